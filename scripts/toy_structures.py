"""The structure of a sentence of the toy corpus: phrases and clauses, in no language's word order.

A sentence is built once, by the Inventor of toy_inventor.py. toy_english.py and toy_french.py read the same
structure, and all agreement follows from it: an adjective looks up the gender of its noun, a participle that of
its object, a pronoun that of the noun it stands for. The second half looks at a structure without a language:
walk() goes through it, depth() says how nested it is, pairs_of() which words meet in it.
"""
from toy_lexicon import PERSONS, direct


class NounPhrase:
    """the small black cat near the house that the boy sees"""

    def __init__(self, determiner, noun, plural, adjectives=(), pp=None, relative=None):
        self.determiner, self.noun, self.plural, self.adjectives = determiner, noun, plural, list(adjectives)
        self.pp = pp                                # (preposition, phrase)
        self.relative = relative                    # a Clause whose subject or object is this very phrase

    gender = property(lambda self: self.noun.gender)
    person = property(lambda self: 3 if self.plural else 1)
    classes = property(lambda self: self.noun.classes)
    nouns = property(lambda self: [self.noun])


class Pair:
    """the boy and the girl: plural, and masculine as soon as one of the two is"""
    plural, person = True, 3

    def __init__(self, first, second):
        self.first, self.second = first, second

    gender = property(lambda self: "m" if "m" in (self.first.gender, self.second.gender) else "f")
    nouns = property(lambda self: self.first.nouns + self.second.nouns)


class Pronoun:
    """he, her, us; or, with an antecedent, the pronoun that stands for that phrase"""

    def __init__(self, key, antecedent=None):
        self.key, self.antecedent = key, antecedent

    @property
    def row(self):
        if self.antecedent is None:
            return PERSONS[self.key]
        phrase = self.antecedent
        if phrase.plural:
            return PERSONS["they " + phrase.gender]
        if "human" in phrase.classes:
            return PERSONS["he" if phrase.gender == "m" else "she"]
        return PERSONS["it " + phrase.gender]

    gender = property(lambda self: self.row.gender)
    plural = property(lambda self: self.row.plural)
    person = property(lambda self: self.row.person)
    nouns = property(lambda self: self.antecedent.nouns if self.antecedent else [])


class Clause:
    """One verb with what belongs to it. `gap` names the part that is understood but not said: the subject in
    "(the cat) that sleeps" and "and eats it", the object in "(the apple) that he eats" and "what does he eat?"."""

    def __init__(self, subject, verb, tense="present", negation="", modal=None, adverb="", adjective=None, very=False,
                 object=None, recipient=None, pp=None, time=False, gap=""):
        self.subject, self.verb, self.tense, self.negation, self.modal = subject, verb, tense, negation, modal
        self.adverb, self.adjective, self.very, self.object = adverb, adjective, very, object
        self.recipient, self.pp, self.time, self.gap = recipient, pp, time, gap


class Sentence:
    """Clauses with the conjunctions between them; `question` is "", does, what, who, where or why."""

    def __init__(self, clauses, conjunctions=(), question=""):
        self.clauses, self.conjunctions, self.question = clauses, conjunctions, question


# ----------------------------------------------------------------------------- looking at a structure


def walk(item):
    """All phrases and clauses of a sentence, outermost first, in the order of the English words."""
    if isinstance(item, Sentence):
        for c in item.clauses:
            yield from walk(c)
    elif isinstance(item, Clause):
        yield item
        if item.gap != "subject":
            yield from walk(item.subject)
        if item.object and item.gap != "object":
            yield from walk(item.object)
        if item.recipient:
            yield from walk(item.recipient)
        if item.pp:
            yield from walk(item.pp[1])
    elif isinstance(item, Pair):
        yield item
        yield from walk(item.first)
        yield from walk(item.second)
    else:
        yield item
        if isinstance(item, NounPhrase) and item.pp:
            yield from walk(item.pp[1])
        if isinstance(item, NounPhrase) and item.relative:
            yield from walk(item.relative)


def depth(item, pp=1, because=1):
    """How deep phrases are nested: 1 for a prepositional phrase or a relative clause at a noun, 2 for one within it.
    A because-clause counts 1, too. With pp and because 0 it is the depth of relative clauses alone."""
    if isinstance(item, Sentence):
        inside = [""] + list(item.conjunctions)
        return max(depth(c, pp, because) + because * (word == "because") for c, word in zip(item.clauses, inside))
    if isinstance(item, Clause):
        parts = [item.subject if item.gap != "subject" else None, item.object if item.gap != "object" else None,
                 item.recipient, item.pp and item.pp[1]]
        return max(depth(p, pp, because) if p else 0 for p in parts)
    if isinstance(item, Pair):
        return max(depth(item.first, pp, because), depth(item.second, pp, because))
    if isinstance(item, NounPhrase):
        return max(pp + depth(item.pp[1], pp, because) if item.pp else 0,
                   1 + depth(item.relative, pp, because) if item.relative else 0)
    return 0


def pairs_of(sentence):
    """(noun, adjective) and (verb, object noun) pairs, also across "is", relative clauses and pronouns."""
    pairs = []
    for item in walk(sentence):
        if isinstance(item, NounPhrase):
            pairs += [("noun-adjective", item.noun.en, a.en) for a in item.adjectives]
        if isinstance(item, Clause) and item.adjective:
            pairs += [("noun-adjective", n.en, item.adjective.en) for n in item.subject.nouns]
        if isinstance(item, Clause) and item.object and direct(item.verb):
            pairs += [("verb-object", item.verb.en, n.en) for n in item.object.nouns]
    return pairs
