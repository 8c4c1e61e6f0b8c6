"""What makes sense in the toy corpus: which words go together, and which whole sentences are clear.

The first half answers from the classes of toy_lexicon.py; toy_inventor.py asks it before it draws a word. The second
half judges a finished structure of toy_structures.py; make_toy_corpus.py throws away what is not sound.
"""
from functools import lru_cache

from toy_lexicon import ADJECTIVES, BE, GIVING, NOUNS, VERBS, adjective_fits, direct, fits
from toy_structures import Clause, NounPhrase, Pair, Pronoun, walk

# -------------------------------------------------------------------------------------- words together


@lru_cache(None)
def nouns_of(classes):
    return [n for n in NOUNS if fits(n, classes)]


@lru_cache(None)
def adjectives_of(nouns):
    """Those that fit all these nouns; without a noun (he, she, I, we), those for people."""
    return [a for a in ADJECTIVES if (all(adjective_fits(a, n) for n in nouns) if nouns else "human" in a.classes)]


@lru_cache(None)
def verbs_of(nouns):
    """What all these nouns can do; without a noun, what people can do."""
    return [v for v in VERBS if (all(fits(n, v.subjects) for n in nouns) if nouns else "human" in v.subjects)]


@lru_cache(None)
def verbs_on(noun):
    """What can be done to it."""
    return [v for v in VERBS if direct(v) and v.en not in GIVING and fits(noun, v.objects)]


def verb_kind(verb):
    return "give" if verb.en in GIVING else "preposition" if verb.fr_prep else "transitive" if verb.objects else "alone"


def accepts(verb, subject):
    """Can this subject do that?"""
    return verb is BE or verb in verbs_of(tuple(subject.nouns))


def alive(phrase):
    return all(fits(n, ("human", "animal")) for n in phrase.nouns)


def past_is_clear(verb, subject):
    """No past for states; none with être for I and we, who may be men or women."""
    return verb.en_past != "-" and not (verb.auxiliary == "être" and subject.gender is None)


# ------------------------------------------------------------------------------------ whole sentences


def is_sound(sentence):
    """Is it clear, and does it make sense? Sentences that fail are thrown away."""
    nouns, words, groups = [], [], []
    for item in walk(sentence):
        if isinstance(item, NounPhrase):
            nouns.append(item.noun)
            words += [item.noun.en] + [a.en for a in item.adjectives]
            groups += [(item.noun.en, a.group) for a in item.adjectives]
        if isinstance(item, Clause):
            words.append(item.adjective.en if item.adjective else item.verb.en)
            groups += [(n.en, item.adjective.group) for n in item.subject.nouns if item.adjective]
            others = [p for p in (item.object, item.recipient, item.pp and item.pp[1]) if isinstance(p, Pronoun)]
            if any(p.antecedent is item.subject or p.person in (0, 2) and item.subject.person in (0, 2) for p in others):
                return False                                                # no "I see me"
            if any(p.key and p.key == getattr(item.subject, "key", "") for p in others):
                return False                                                # no "he sees him"
    no_repetition = len(set(words)) == len(words)
    no_contradiction = len(set(groups)) == len(groups)                      # nothing is both old and young
    return no_repetition and no_contradiction and clear(sentence)


def clear(sentence):
    """Each "it", "they" and so on has exactly one phrase in the sentence that it can stand for."""
    phrases = [p for p in walk(sentence) if isinstance(p, (NounPhrase, Pair))]
    halves = [half for p in phrases if isinstance(p, Pair) for half in (p.first, p.second)]
    for clause in walk(sentence):
        for pronoun in (clause.subject, clause.object) if isinstance(clause, Clause) else ():
            if isinstance(pronoun, Pronoun) and pronoun.antecedent:
                for p in phrases:
                    if p is pronoun.antecedent or p is clause.subject or (pronoun.plural and p in halves):
                        continue
                    if Pronoun("", p).row.subject == pronoun.row.subject:
                        return False
    return True
