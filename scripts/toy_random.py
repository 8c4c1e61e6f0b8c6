"""Random numbers that are the same everywhere and for ever, so that the toy corpus is the same bytes each time.

Python does not promise that for its own random.choice and random.shuffle. toy_inventor.py draws sentences with it,
make_toy_corpus.py shuffles.
"""


class Random:
    """splitmix64 (Steele, Lea and Flood 2014): the same numbers everywhere."""

    def __init__(self, seed):
        self.state = seed

    def next(self):
        self.state = (self.state + 0x9E3779B97F4A7C15) % 2**64
        z = self.state
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB % 2**64
        return z ^ (z >> 31)

    def below(self, n):
        return self.next() * n >> 64

    def chance(self, percent):
        return self.below(100) < percent

    def weighted(self, *pairs):
        """One of (weight, value)..."""
        ticket = self.below(sum(weight for weight, _ in pairs))
        for weight, value in pairs:
            ticket -= weight
            if ticket < 0:
                return value

    def shuffle(self, items):
        for i in range(len(items) - 1, 0, -1):
            j = self.below(i + 1)
            items[i], items[j] = items[j], items[i]
