"""How a structure of toy_structures.py reads in French: french(sentence) is the line of the .fr files.

Two steps: french_tokens() makes the words, agreement included, as if none touched its neighbours ("parce que il vient
de le hôtel"); spell() then elides and contracts. The rest, from the top down: phrases, clause, and the rules of the
verb, which toy_tags.py asks too, to name what a sentence tests. toy_english.py is the counterpart.
"""
from toy_lexicon import (ADVERBS, AUXILIARIES, CONJUNCTIONS, DETERMINERS, FUTURE_ENDINGS, PREPOSITIONS, QUESTIONS, TIMES,
                         starts_with_vowel)
from toy_structures import NounPhrase, Pair, Pronoun


def french(sentence):
    text = spell(french_tokens(sentence))
    return text[0].upper() + text[1:] + ("?" if sentence.question else ".")


def french_tokens(sentence):
    """The words before elision and contraction: "parce que il vient de le hôtel"."""
    tokens = QUESTIONS[sentence.question].split() if sentence.question in QUESTIONS else []
    for i, clause in enumerate(sentence.clauses):
        tokens += CONJUNCTIONS[sentence.conjunctions[i - 1]].split() if i else []
        tokens += french_clause(clause)
    return tokens


ELIDED = ("je", "me", "le", "la", "ne", "de", "que")
CONTRACTED = {("de", "le"): "du", ("de", "les"): "des", ("à", "le"): "au", ("à", "les"): "aux"}


def spell(tokens):
    """Joins words from right to left, because "de le hôtel" is "de l'hôtel" but "de le château" is "du château"."""
    words = []
    for token in reversed(tokens):
        if words and token in ELIDED and starts_with_vowel(words[0].split("'")[0]):
            words[0] = token[:-1] + "'" + words[0]
        elif words and (token, words[0]) in CONTRACTED:
            words[0] = CONTRACTED[token, words[0]]
        else:
            words.insert(0, token)
    return " ".join(words)


# ------------------------------------------------------------------------------------------- phrases


def french_adjective(adjective, gender, plural):
    return ((adjective.f, adjective.fp) if gender == "f" else (adjective.m, adjective.mp))[plural]


def french_phrase(phrase, subject=False, no_article=False):
    if isinstance(phrase, Pronoun):
        return [phrase.row.fr_subject if subject else phrase.row.tonic]
    if isinstance(phrase, Pair):
        return french_phrase(phrase.first) + ["et"] + french_phrase(phrase.second)
    noun = phrase.noun.fr_plural if phrase.plural else phrase.noun.fr
    before, after = [], []
    for a in phrase.adjectives:
        form = french_adjective(a, phrase.gender, phrase.plural)
        if a.position == "before" and form == a.m and not phrase.plural and starts_with_vowel(noun):
            form = a.m_vowel                                            # bel, vieil, nouvel
        (before if a.position == "before" else after).append(form)
    words = before + [noun] + after
    words.insert(0, "de" if no_article else french_determiner(phrase, words[0], bool(before)))
    if phrase.pp:
        words += french_pp(phrase.pp)
    if phrase.relative:
        words += ["qui" if phrase.relative.gap == "subject" else "que"] + french_clause(phrase.relative)
    return words


def french_determiner(phrase, next_word, adjective_before):
    _, _, m, f, plural, m_vowel, f_vowel = DETERMINERS[phrase.determiner]
    if phrase.plural:
        return "de" if plural == "des" and adjective_before else plural    # de grands chats
    if starts_with_vowel(next_word):
        return m_vowel if phrase.gender == "m" else f_vowel                 # cet arbre, mon épée
    return m if phrase.gender == "m" else f


def french_pp(pp):
    return PREPOSITIONS[pp[0]][0].split() + french_phrase(pp[1])


# -------------------------------------------------------------------------------------------- clause


def french_clause(c):
    words = [] if c.gap == "subject" else french_phrase(c.subject, subject=True)
    person, before_verb, after = c.subject.person, clitics(c), []
    if c.modal:
        finite, after, before_verb = c.modal.present[person], before_verb + [c.verb.infinitive], []
    elif c.tense == "present":
        finite = c.verb.present[person]
    elif c.tense == "future":
        finite = c.verb.future + FUTURE_ENDINGS[person]
    else:
        finite, after = AUXILIARIES[c.verb.auxiliary][person], [participle(c)]
    words += (["ne"] if c.negation else []) + before_verb + [finite]
    words += {"": [], "not": ["pas"], "never": ["jamais"]}[c.negation]
    words += ([ADVERBS[c.adverb]] if c.adverb else []) + after
    if c.adjective:
        words += ["très"] * c.very + [french_adjective(c.adjective, c.subject.gender, c.subject.plural)]
    if c.object and c.gap != "object" and not (isinstance(c.object, Pronoun) and c.verb.fr_prep != "de"):
        words += [c.verb.fr_prep] if c.verb.fr_prep else []
        words += french_phrase(c.object, no_article=without_article(c))
    if c.recipient and not isinstance(c.recipient, Pronoun):
        words += ["à"] + french_phrase(c.recipient)
    if c.pp:
        words += french_pp(c.pp)
    if c.time:
        words.append(TIMES[c.tense][1])
    return words


def participle(clause):
    """With être it agrees with the subject; with avoir, with a direct object that stands before it."""
    c, word = clause, clause.verb.participle
    if c.verb.auxiliary == "être":
        model = c.subject
    elif preceding_object(c):
        model = c.object
    else:
        return word
    word += "e" if model.gender == "f" else ""
    return word + ("s" if model.plural and not word.endswith("s") else "")


def preceding_object(c):
    """la pomme qu'il a mangée, il l'a mangée"""
    return c.object is not None and not c.verb.fr_prep and (c.gap == "object" or isinstance(c.object, Pronoun))


def clitics(c):
    """Pronouns that stand before the verb."""
    words = []
    if isinstance(c.object, Pronoun) and c.gap != "object":
        words += {"": [c.object.row.direct], "à": [c.object.row.indirect], "de": []}[c.verb.fr_prep]
    if isinstance(c.recipient, Pronoun):
        words.append(c.recipient.row.indirect)
    return words


def without_article(c):
    """un chat, but: pas de chat"""
    return bool(c.negation) and isinstance(c.object, NounPhrase) and c.object.determiner == "a" and not c.verb.fr_prep
