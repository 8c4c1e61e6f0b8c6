"""How a structure of toy_structures.py reads in English: english(sentence) is the line of the .en files.

Each function returns a list of words; from the top down: sentence, phrases, clause, verb. toy_french.py has the same
functions for French. Neither knows of the other.
"""
from toy_lexicon import BE, DETERMINERS, TIMES
from toy_structures import Pair, Pronoun


def english(sentence):
    words = []
    if sentence.question in ("what", "where", "why"):
        words.append(sentence.question)
    for i, clause in enumerate(sentence.clauses):
        words += [sentence.conjunctions[i - 1]] if i else []
        words += english_clause(clause, inverted=sentence.question not in ("", "who"))
    text = " ".join(words)
    return text[0].upper() + text[1:] + ("?" if sentence.question else ".")


def english_phrase(phrase, subject=False):
    if isinstance(phrase, Pronoun):
        return [phrase.row.subject if subject else phrase.row.object]
    if isinstance(phrase, Pair):
        return english_phrase(phrase.first) + ["and"] + english_phrase(phrase.second)
    words = [a.en for a in phrase.adjectives] + [phrase.noun.en_plural if phrase.plural else phrase.noun.en]
    determiner = DETERMINERS[phrase.determiner][phrase.plural]
    words.insert(0, "an" if determiner == "a" and words[0][0] in "aeiou" else determiner)
    if phrase.pp:
        words += english_pp(phrase.pp)
    if phrase.relative:
        who = phrase.relative.gap == "subject" and "human" in phrase.classes
        words += ["who" if who else "that"] + english_clause(phrase.relative)
    return words


def english_pp(pp):
    return [pp[0]] + english_phrase(pp[1])


def english_clause(c, inverted=False):
    third = c.subject.person == 1
    auxiliary, verb = english_verb(c, third, inverted)
    subject = [] if c.gap == "subject" else english_phrase(c.subject, subject=True)
    words = auxiliary + subject if inverted else subject + auxiliary
    if c.negation == "not" and auxiliary == ["can"]:
        words[-1] = "cannot"
    elif c.negation:
        words.append(c.negation)
    words += [c.adverb] if c.adverb else []
    words += verb
    if c.adjective:
        words += ["very"] * c.very + [c.adjective.en]
    if c.verb.en_prep:
        words.append(c.verb.en_prep)
    if c.object and c.gap != "object":
        words += english_phrase(c.object)
    if c.recipient:
        words += ["to"] + english_phrase(c.recipient)
    if c.pp:
        words += english_pp(c.pp)
    if c.time:
        words.append(TIMES[c.tense][0])
    return words


def english_verb(c, third, inverted):
    """The auxiliary, which changes places with the subject in questions, and the rest."""
    if c.verb is BE and c.tense == "present":
        return [("am", "is", "are", "are")[c.subject.person]], []
    if c.modal and c.modal.en != "want":
        return [c.modal.en], [c.verb.en]
    base, forms_third, past, tail = c.verb.en, c.verb.en_third, c.verb.en_past, []
    if c.modal:
        base, forms_third, tail = "want", "wants", ["to", c.verb.en]
    if c.tense == "future":
        return ["will"], [base] + tail
    if inverted or c.negation == "not":
        return ["did" if c.tense == "past" else "does" if third else "do"], [base] + tail
    return [], [past if c.tense == "past" else forms_third if third else base] + tail
