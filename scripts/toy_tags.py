"""What a sentence of the toy corpus tests: the words of its line in the .tags files.

tags_of(sentence) reads the structure of toy_structures.py and, where only the French words show it (elision, "bel"), what
toy_french.py makes of it. data/toy/README.md explains each tag.
"""
from toy_french import CONTRACTED, clitics, french_phrase, french_tokens, preceding_object, spell, without_article
from toy_lexicon import starts_with_vowel
from toy_structures import Clause, NounPhrase, Pair, Pronoun, walk


def tags_of(sentence):
    """What a sentence tests, sorted."""
    tags = set()
    tokens = french_tokens(sentence)
    text = spell(tokens)
    words = text.split()
    for one, two, three in zip(tokens, tokens[1:], tokens[2:]):
        if (one, two) in CONTRACTED and not (two == "le" and starts_with_vowel(three)):
            tags.add("contraction")
    if "'" in text:
        tags.add("elision")
    if sentence.question:
        tags |= {"question"} if sentence.question == "does" else {"question", "question-word"}
    for conjunction in sentence.conjunctions:
        tags.add("because" if conjunction == "because" else "coordination")
    if any(w in ("bel", "vieil", "nouvel", "cet") for w in words):
        tags.add("vowel-form")
    for item in walk(sentence):
        if isinstance(item, Pair):
            tags |= {"coordination", "plural"}
        if isinstance(item, Pronoun) and item.antecedent:
            tags.add("pronoun-reference")
        if isinstance(item, NounPhrase):
            tags |= noun_phrase_tags(item)
        if isinstance(item, Clause):
            tags |= clause_tags(item)
    return sorted(tags)


def noun_phrase_tags(phrase):
    tags = {"adjective-" + a.position for a in phrase.adjectives}
    for a in phrase.adjectives:
        tags |= agreement_tags(a.m, a.f, phrase)
    if len(phrase.adjectives) > 1:
        tags.add("adjective-two")
    if phrase.plural:
        tags.add("plural")
    if phrase.determiner in ("my", "our", "his", "her"):
        tags.add("possessive")
        if not phrase.plural and phrase.gender == "f" and phrase.determiner != "our" and \
                french_phrase(phrase)[0] in ("mon", "son"):
            tags.add("vowel-form")
    tags |= {"demonstrative"} if phrase.determiner == "this" else set()
    tags |= {"indefinite"} if phrase.determiner == "a" else set()
    tags |= {"prepositional"} if phrase.pp else set()
    if phrase.relative:
        tags |= {"relative", "relative-" + phrase.relative.gap}
    return tags


def clause_tags(c):
    tags = {"tense-" + c.tense}
    tags |= {"negation"} if c.negation else set()
    tags |= {"negation-article"} if without_article(c) else set()
    tags |= {"infinitive"} if c.modal else set()
    tags |= {"adverb"} if c.adverb or c.time else set()
    tags |= {"prepositional"} if c.pp or (c.object and c.verb.fr_prep) or c.recipient else set()
    tags |= {"object-pronoun"} if clitics(c) else set()
    tags |= {"first-person"} if c.subject.person in (0, 2) else set()
    tags |= {"plural"} if c.subject.plural else set()
    if isinstance(c.object, Pronoun) or isinstance(c.recipient, Pronoun):
        phrases = [p for p in (c.object, c.recipient) if isinstance(p, Pronoun)]
        tags |= {"first-person"} if any(p.person in (0, 2) for p in phrases) else set()
    if c.adjective:
        tags |= {"adjective-predicate"} | agreement_tags(c.adjective.m, c.adjective.f, c.subject)
    if c.tense == "past" and (c.verb.auxiliary == "être" or preceding_object(c)):
        tags |= {"participle-agreement"} | agreement_tags("", "e", c.object if preceding_object(c) else c.subject)
    if c.tense == "past" and c.verb.auxiliary == "être":
        tags.add("past-with-etre")
    return tags


def agreement_tags(m, f, model):
    """Tagged where the ending can be seen: a feminine unlike its masculine, a plural."""
    return ({"agreement-gender"} if model.gender == "f" and m != f else set()) | \
        ({"agreement-number"} if model.plural else set())
