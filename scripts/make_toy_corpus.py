#!/usr/bin/env python3
"""Makes data/toy: an English-French corpus from our own grammar, the same bytes each time.

    python3 scripts/make_toy_corpus.py [--output data/toy]      writes the files
    python3 scripts/make_toy_corpus.py --check                  compares them with what would be written

This file cuts the sentences into training and test sets and asserts what data/toy/README.md promises about them.
The sentences themselves come from the other files, in this order of reading:

    toy_lexicon.py      the words, their forms, and what they may be combined with
    toy_structures.py   a sentence as phrases and clauses, without the grammar of either language
    toy_english.py      how that reads in English
    toy_french.py       how the same reads in French
    toy_sense.py        which words go together, which sentences are clear
    toy_random.py       random numbers, the same everywhere
    toy_inventor.py     draws sentences
    toy_tags.py         what a sentence tests
"""
import argparse
import os
import sys
import unicodedata
from collections import Counter, namedtuple

sys.dont_write_bytecode = True
from toy_english import english
from toy_french import CONTRACTED, ELIDED, french, french_tokens
from toy_inventor import Inventor
from toy_lexicon import (ADJECTIVES, BE, NOT_PREDICATE, NOUNS, PAS_DE, PASSING, PREPOSITIONS, VERBS, adjective_fits,
                         direct, fits, starts_with_vowel)
from toy_random import Random
from toy_sense import accepts, is_sound, past_is_clear
from toy_structures import Clause, NounPhrase, Pronoun, depth, pairs_of, walk
from toy_tags import tags_of

TRAIN, VALID, TEST, TEST_PAIRS, TEST_LONG, MINIMAL_PAIRS = 30000, 500, 1000, 1000, 500, 100
WITHHELD = {"noun-adjective": 110, "verb-object": 90}


# -------------------------------------------------------------------------------------- the withheld pairs


def choose_withheld():
    """200 combinations that training never shows, though it shows each of their words with others. No word loses
    more than a few of its partners: at most 3 a noun, a seventh of an adjective's nouns, a fifth of a verb's."""
    possible = {"noun-adjective": [(n.en, a.en) for n in NOUNS for a in ADJECTIVES if adjective_fits(a, n)],
                "verb-object": [(v.en, n.en) for v in VERBS if direct(v) for n in NOUNS if fits(n, v.objects)]}
    withheld = []
    for seed, (kind, pairs) in enumerate(possible.items()):
        share = 7 if kind == "noun-adjective" else 5
        of_noun, of_other = (0, 1) if kind == "noun-adjective" else (1, 0)
        partners = Counter(pair[of_other] for pair in pairs)
        nouns, others, chosen = Counter(), Counter(), []
        Random(seed).shuffle(pairs)
        for pair in pairs:
            noun, other = pair[of_noun], pair[of_other]
            if nouns[noun] < 3 and (others[other] + 1) * share <= partners[other] and len(chosen) < WITHHELD[kind]:
                nouns[noun] += 1
                others[other] += 1
                chosen.append((kind,) + pair)
        withheld += sorted(chosen)
    return withheld


# --------------------------------------------------------------------------------------------- the splits


class Corpus:
    """All sentences so far, so that none comes twice and each English one has one French one."""

    def __init__(self):
        self.translation = {}

    def add(self, sentence):
        """The Line, or None where the sentence is already there."""
        en, fr = english(sentence), french(sentence)
        if en in self.translation:
            assert self.translation[en] == fr, (en, fr, self.translation[en])
            return None
        self.translation[en] = fr
        return line_of(sentence)


Line = namedtuple("Line", "en fr tags pairs depth relatives")


def line_of(sentence):
    return Line(english(sentence), french(sentence), tags_of(sentence), pairs_of(sentence), depth(sentence),
                depth(sentence, pp=0, because=0))


def length(sentence):
    return len(english(sentence).split())


def invent(inventor, accept):
    while True:
        sentence = inventor.sentence()
        if is_sound(sentence) and accept(sentence):
            return sentence


def make_splits():
    withheld = choose_withheld()
    forbidden = frozenset(withheld)
    corpus = Corpus()

    # train, valid and test: one population, shuffled and cut.
    inventor, lines = Inventor(1), []
    while len(lines) < TRAIN + VALID + 2 * TEST:
        line = corpus.add(invent(inventor, lambda s: 3 <= length(s) <= 14 and depth(s) <= 2
                                 and not forbidden & frozenset(pairs_of(s))))
        lines += [line] if line else []
    Random(2).shuffle(lines)
    splits = {"train": lines[:TRAIN], "valid": lines[TRAIN:TRAIN + VALID]}
    known = Known(splits["train"])
    splits["test"] = [line for line in lines[TRAIN + VALID:] if known.all_of(line)][:TEST]

    # test_pairs: the same grammar, with one of the withheld pairs in each sentence, all of them equally often.
    inventor, splits["test_pairs"] = Inventor(3), []
    for pair in withheld:
        inventor.focus = [word for word in NOUNS + ADJECTIVES + VERBS if word.en in pair]
        times = 0
        while times < TEST_PAIRS // len(withheld):
            line = corpus.add(invent(inventor, lambda s: 3 <= length(s) <= 14 and depth(s) <= 2
                                     and forbidden & frozenset(pairs_of(s)) == {pair}))
            if line and known.all_of(line, english_times=20):
                line.tags.append("withheld-" + pair[0])
                splits["test_pairs"].append(line)
                times += 1
    Random(6).shuffle(splits["test_pairs"])

    # test_long: longer and deeper.
    inventor, splits["test_long"] = Inventor(4, nested=True), []
    while len(splits["test_long"]) < TEST_LONG:
        line = corpus.add(invent(inventor, lambda s: 15 <= length(s) <= 30 and depth(s) >= 3 and depth(s, pp=0, because=0) >= 2
                                 and not forbidden & frozenset(pairs_of(s))))
        if line and known.all_of(line):
            line.tags.append("nested")
            splits["test_long"].append(line)
    splits["minimal_pairs"] = make_minimal_pairs(corpus, known, forbidden)
    return splits, withheld


class Known:
    """How often training shows each word of each language."""

    def __init__(self, train):
        self.english = Counter(w for line in train for w in words_of(line.en))
        self.french = Counter(w for line in train for w in words_of(line.fr))

    def all_of(self, line, english_times=5, french_times=5):
        return all(self.english[w] >= english_times for w in words_of(line.en)) and \
            all(self.french[w] >= french_times for w in words_of(line.fr))


def words_of(text):
    """Without the capital, and "l'homme" as two words."""
    text = text[0].lower() + text[1:-1]
    return text.replace("'", "' ").split()


# --------------------------------------------------------------------------------------- the minimal pairs


def make_minimal_pairs(corpus, known, forbidden):
    """Change one thing in a sentence so that one English word changes, and see what must follow it in French."""
    inventor, lines = Inventor(5), []
    wanted = {"minimal-gender": 35, "minimal-number": 20, "minimal-order": 20, "minimal-person": 15, "minimal-tense": 10}
    while wanted:
        sentence = invent(inventor, lambda s: 4 <= length(s) <= 12 and depth(s) <= 1
                          and not forbidden & frozenset(pairs_of(s)))
        before = line_of(sentence)
        for kind, change in changes(sentence, inventor.random):
            if kind not in wanted:
                continue
            undo = change()
            good = makes_sense(sentence) and is_sound(sentence) and not forbidden & frozenset(pairs_of(sentence))
            after = line_of(sentence) if good else None
            undo()
            if good and known.all_of(before) and known.all_of(after) \
                    and differing(before.en, after.en) == 1 and differing(before.fr, after.fr) >= 2 \
                    and before.en not in corpus.translation and after.en not in corpus.translation:
                for line in (before, after):
                    corpus.translation[line.en] = line.fr
                    line.tags.append(kind)
                    lines.append(line)
                wanted[kind] -= 1
                if not wanted[kind]:
                    del wanted[kind]
                break
    return lines


def changes(sentence, random):
    """(kind, function that makes the change and returns a function that undoes it), in random order."""
    def setting(target, name, value):
        def change():
            old = getattr(target, name)
            setattr(target, name, value)
            return lambda: setattr(target, name, old)
        return change

    found = []
    for item in walk(sentence):
        if isinstance(item, NounPhrase):
            found += [("minimal-gender", setting(item, "noun", n)) for n in NOUNS
                      if n.gender != item.gender and n.kind == item.noun.kind]
            found.append(("minimal-number", setting(item, "plural", not item.plural)))
            for i, a in enumerate(item.adjectives):
                found += [("minimal-order", setting(item, "adjectives", item.adjectives[:i] + [b] + item.adjectives[i + 1:]))
                          for b in ADJECTIVES if b.position != a.position and adjective_fits(b, item.noun)]
        if isinstance(item, Pronoun) and item.key in ("I", "we", "he", "she"):
            found += [("minimal-person", setting(item, "key", k)) for k in ("I", "we", "he", "she") if k != item.key]
        if isinstance(item, Clause) and not item.modal and not item.time and len(sentence.clauses) == 1:
            found += [("minimal-tense", setting(item, "tense", t)) for t in ("present", "past", "future") if t != item.tense]
    random.shuffle(found)
    return found


def makes_sense(sentence):
    """The rules that the Inventor keeps when it chooses words, for a sentence in which one was changed."""
    for item in walk(sentence):
        if isinstance(item, NounPhrase):
            if not all(adjective_fits(a, item.noun) for a in item.adjectives) or \
                    (len(item.adjectives) == 2 and [a.position for a in item.adjectives] != ["before", "after"]):
                return False
            if item.determiner == "two" and not item.plural:
                return False
            if item.pp and not fits(item.pp[1].noun, PREPOSITIONS[item.pp[0]][1].split()):
                return False
        if isinstance(item, Clause):
            c = item
            if not all(adjective_fits(c.adjective, n) for n in c.subject.nouns if c.adjective) or not accepts(c.verb, c.subject):
                return False
            if c.adjective and c.subject.gender is None and (c.adjective.m != c.adjective.f or c.adjective.mp != c.adjective.fp):
                return False
            if c.adjective and (c.adjective.en in NOT_PREDICATE or c.adverb and c.adjective.group not in PASSING):
                return False
            if c.tense == "past" and c.verb is BE or c.tense != "present" and (c.adverb or c.modal):
                return False
            if c.tense == "past" and c.verb is not BE and not past_is_clear(c.verb, c.subject):
                return False
            if c.object and not all(fits(n, c.verb.objects) for n in c.object.nouns):
                return False
            if isinstance(c.object, Pronoun) and c.object.gender is None and c.tense == "past" and direct(c.verb):
                return False
            if c.negation and isinstance(c.object, NounPhrase) and c.object.determiner == "a" and \
                    (c.object.plural or c.verb.en not in PAS_DE):
                return False
            if c.pp and isinstance(c.pp[1], NounPhrase) and not fits(c.pp[1].noun, PREPOSITIONS[c.pp[0]][1].split()):
                return False
    text = " ".join(french_tokens(sentence))
    return "de des " not in text and "de de " not in text


def differing(a, b):
    """Words at which two texts of the same length differ; without their number, more than any."""
    a, b = words_of(a), words_of(b)
    if len(a) != len(b):
        return 99 if abs(len(a) - len(b)) > 1 else 2
    return sum(x != y for x, y in zip(a, b))


# ------------------------------------------------------------------------------------------- the promises


def check_promises(splits, withheld):
    """Everything that data/toy/README.md guarantees."""
    known, forbidden = Known(splits["train"]), frozenset(withheld)
    assert {name: len(lines) for name, lines in splits.items()} == {
        "train": TRAIN, "valid": VALID, "test": TEST, "test_pairs": TEST_PAIRS, "test_long": TEST_LONG,
        "minimal_pairs": 2 * MINIMAL_PAIRS}
    everything = [line for lines in splits.values() for line in lines]
    assert len(set(line.en for line in everything)) == len(everything), "an English sentence comes twice"
    for line in everything:
        check_spelling(line)
    for name, lines in splits.items():
        shortest, longest, deepest = (15, 30, 9) if name == "test_long" else (3, 14, 2)
        for line in lines:
            assert shortest <= len(line.en.split()) <= longest and line.depth <= deepest, line
            assert len(forbidden & frozenset(line.pairs)) == (name == "test_pairs"), line
            assert name in ("train", "valid") or known.all_of(line, english_times=20 if name == "test_pairs" else 5), line
            assert (line.depth > 2 and line.relatives > 1) if name == "test_long" else line.relatives <= 1, line
    assert len(forbidden) == sum(WITHHELD.values())
    for word in NOUNS + ADJECTIVES + VERBS:
        forms = {getattr(word, name) for name in ("en", "en_plural", "en_third", "en_past") if hasattr(word, name)}
        assert sum(known.english[form] for form in forms) >= 150, word


def check_spelling(line):
    """Letters of one kind, and no two French words side by side that should have been joined."""
    assert unicodedata.normalize("NFC", line.fr) == line.fr and line.en.isascii() and "'" not in line.en
    words = line.fr[:-1].lower().split()
    for one, two in zip(words, words[1:]):
        one = one.split("'")[-1]
        assert not (one in ELIDED + ("ma", "sa", "ce") and starts_with_vowel(two)), line
        assert (one, two) not in CONTRACTED and one != two.split("'")[-1] or one == two == "nous", line


# ---------------------------------------------------------------------------------------------- the files


def files_of(splits, withheld):
    files = {}
    for name, lines in splits.items():
        files[name + ".en"] = [line.en for line in lines]
        files[name + ".fr"] = [line.fr for line in lines]
        if name not in ("train", "valid"):
            files[name + ".tags"] = [" ".join(line.tags) for line in lines]
    files["withheld.txt"] = [" ".join(pair) for pair in withheld]
    return {name: ("\n".join(lines) + "\n").encode("utf-8") for name, lines in files.items()}


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--output", default=os.path.join(here, "..", "data", "toy"), help="folder of the corpus")
    parser.add_argument("--check", action="store_true", help="compare instead of writing; exit 1 on a difference")
    options = parser.parse_args()
    splits, withheld = make_splits()
    check_promises(splits, withheld)
    different = []
    for name, content in files_of(splits, withheld).items():
        path = os.path.join(options.output, name)
        if options.check:
            if not os.path.exists(path) or open(path, "rb").read() != content:
                different.append(path)
        else:
            os.makedirs(options.output, exist_ok=True)
            with open(path, "wb") as file:
                file.write(content)
    for path in different:
        print(path + ": differs from what the grammar makes", file=sys.stderr)
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
