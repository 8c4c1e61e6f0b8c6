"""The grammar of the toy corpus: what a sentence is, how it reads in English and in French, and how we invent one.

Each sentence is built once, as a structure without words of either language's grammar: noun phrases,
pronouns, clauses. Two renderers then read the same structure. All agreement follows from it: an
adjective looks up the gender of its noun, a participle that of its object, a pronoun that of the noun it
stands for. The corpus contains only what both renderers can say well.
"""
from functools import lru_cache

from toy_lexicon import *

# ---------------------------------------------------------------------------------------- structure


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


# ------------------------------------------------------------------------------------------- English


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


# -------------------------------------------------------------------------------------------- French


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


def without_article(c):
    """un chat, but: pas de chat"""
    return bool(c.negation) and isinstance(c.object, NounPhrase) and c.object.determiner == "a" and not c.verb.fr_prep


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


def direct(verb):
    return bool(verb.objects) and not verb.fr_prep


def tags_of(sentence):
    """What a sentence tests, for the .tags files; data/toy/README.md explains each tag."""
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


# ----------------------------------------------------------------------------------------- invention


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


class Inventor:
    """Makes up sentences. `nested` allows a relative clause within a relative clause, and more of everything."""

    def __init__(self, seed, nested=False):
        self.random, self.nested, self.used, self.focus = Random(seed), nested, {}, ()

    def choose(self, items):
        """The less used one of two: keeps the frequencies of the words alike. Words in `focus` come first."""
        for word in self.focus:
            if word in items and self.random.chance(70):
                return word
        a, b = items[self.random.below(len(items))], items[self.random.below(len(items))]
        pick = a if self.used.get(a, 0) <= self.used.get(b, 0) else b
        self.used[pick] = self.used.get(pick, 0) + 1
        return pick

    # ---- phrases

    def noun_phrase(self, classes, level, avoid=(), noun=None, plural=None, modified=True):
        """`level`: how deep the modifiers may nest; `avoid`: determiners that would not be right here."""
        r = self.random
        noun = noun or self.choose(nouns_of(tuple(classes)))
        plural = r.chance(40) if plural is None else plural
        determiner = r.weighted((52, "the"), (16, "a"), (7, "this"), (8, "my"), (5, "our"), (4, "his"), (4, "her"),
                                (4 * plural, "two"))
        if determiner in avoid:
            determiner = "the"
        phrase = NounPhrase(determiner, noun, plural)
        if r.chance(42 if not self.nested else 30):
            phrase.adjectives = self.adjectives(noun)
        if level > 0 and modified:
            kind = r.weighted((74 if not self.nested else 15, ""), (12, "pp"), (14 if not self.nested else 85, "relative"))
            if kind == "pp":
                phrase.pp = self.pp_of_noun(noun, level - 1)
                if phrase.pp[0] == "of":
                    phrase.determiner = "the"                               # not: my cow of the girl
            if kind == "relative":
                phrase.relative = self.relative(phrase, level - 1)
        return phrase

    def adjectives(self, noun):
        """One; or one that stands before the French noun and one that stands after it."""
        fitting = adjectives_of((noun,))
        first = self.choose(fitting)
        after = [a for a in fitting if a.position == "after"]
        if first.position == "before" and after and self.random.chance(15):
            return [first, self.choose(after)]
        return [first]

    def pp_of_noun(self, noun, level):
        animate = fits(noun, ("human", "animal"))
        names = [p for p in PREPOSITIONS if p not in ("with", "of") or fits(noun, ("hold", "animal"))]
        if fits(noun, ("place",)):
            names = ["near", "behind", "in front of"]
        return self.pp(names, level, animate)

    def pp(self, names, level, animate=True, pronouns=False):
        """No relative clause at its noun: in "the cat near the house that ..." it could belong to either."""
        name = self.choose(names)
        classes = PREPOSITIONS[name][1 if animate else 2].split()
        if pronouns and "human" in classes and self.random.chance(20):
            return (name, Pronoun(self.choose(["I", "we", "he", "she"])))
        avoid = ("a", "two") if name == "of" else ("two",)
        plural = False if name in ("in", "on", "under") and self.random.chance(70) else None
        phrase = self.noun_phrase(classes, level, avoid, plural=plural, modified=False)
        if name == "near" and phrase.determiner == "a" and phrase.plural:
            phrase.determiner = "the"                                       # no "près de des"
        return (name, phrase)

    def relative(self, head, level):
        deep = self.nested and level > 0
        level = level if self.nested else 0
        verbs = [v for v in verbs_on(head.noun) if v.en != "have"]               # "that he has eaten"?
        if not fits(head.noun, ("human", "animal")) or self.random.chance(8 if deep else 45):
            if verbs and self.random.chance(80):
                subject = self.subject(("human", "animal"), 0)              # "the cheese that the mouse that ..." is too much
                verbs = [v for v in verbs if accepts(v, subject)]
                if verbs:
                    return self.clause(level, subject, self.choose(verbs), object=head, gap="object", light=True)
            adjective = self.fitting_adjective(head)
            return Clause(head, BE, adjective=adjective, negation=self.random.weighted((85, ""), (15, "not")), gap="subject")
        return self.clause(level, head, gap="subject", light=True)

    def subject(self, classes, level, definite=False):
        r = self.random
        if "human" in classes and r.chance(30):
            return Pronoun(self.choose(["I", "we", "he", "she"]))
        if r.chance(5):
            first = self.noun_phrase(classes, 0, ("a", "two"), plural=False)
            return Pair(first, self.noun_phrase((first.noun.kind,), 0, ("a", "two"), plural=False))
        return self.noun_phrase(classes, level, ("a",) if definite or r.chance(60) else ())

    # ---- clauses

    def fitting_adjective(self, subject):
        fitting = [a for a in adjectives_of(tuple(subject.nouns)) if a.en not in NOT_PREDICATE]
        if subject.gender is None:                      # "je suis heureux" or "heureuse"? only what is the same for both
            fitting = [a for a in fitting if a.m == a.f and a.mp == a.fp]
        return self.choose(fitting)

    def clause(self, level=1, subject=None, verb=None, tense=None, object=None, gap="", light=False, question=False,
               modified=True):
        """`light`: in a relative clause, so nothing that trails; `question`: a negation would be odd."""
        r = self.random
        if subject is None and verb is None and r.chance(24):
            return self.predicate(level, question=question)
        if verb is None:
            kind = r.weighted((50 if not self.nested else 250, "transitive"), (24, "alone"), (16, "preposition"),
                              (12 if not light else 0, "give"))
            fitting = verbs_of(tuple(subject.nouns)) if subject else VERBS
            if not fitting:
                return self.predicate(level, subject, gap=gap)
            verb = self.choose([v for v in fitting if verb_kind(v) == kind] or fitting)
        if subject is None:
            subject = self.subject(verb.subjects, level, definite=question)
        c = Clause(subject, verb, object=object, gap=gap)
        c.tense = tense or r.weighted((40, "present"), (32, "past"), (28, "future"))
        if c.tense == "past" and not past_is_clear(verb, subject):
            c.tense = "present"
        c.negation = "" if question else r.weighted((78, ""), (17, "not"), (5, "never"))
        if c.tense == "present" and not c.negation and verb.en != "have":
            c.adverb = r.weighted((86, ""), (8, "often"), (6, "always"))
        if c.tense == "present" and not light and not c.adverb and c.negation != "never" and alive(subject) and \
                not (question and r.chance(60)) and verb.en not in ("have", "fall", "love", "hate") and r.chance(14):
            c.modal = MODALS[self.random.below(3)] if not question else MODALS[self.random.below(2)]
        if object is None and verb.objects:
            self.add_object(c, level, modified)
        if not light and not verb.objects:
            if verb.en == "stay" or r.chance(45):
                names = ["with", "near"] if verb.en == "swim" else [p for p in PREPOSITIONS if p != "of"]
                names = names if alive(subject) else ["in", "on", "under", "near", "behind"]
                c.pp = self.pp(names, 0, alive(subject), pronouns=True)
        elif not light and direct(verb) and verb.en not in GIVING + STATES and r.chance(14):
            c.pp = self.pp(["in", "near", "behind", "with", "in front of"], 0, verb.en not in SEARCHING, pronouns=True)
        elif not light and c.tense in TIMES and not c.negation and not getattr(c.object, "relative", None) and r.chance(20):
            c.time = True
        return c

    def add_object(self, c, level, modified=True):
        r, verb = self.random, c.verb
        people = "human" in verb.objects
        share = 30 if people and verb.en != "forget" else 0
        if share and r.chance(share) and verb.fr_prep != "de":
            pronouns = ["he", "she"] if c.tense == "past" and direct(verb) else ["I", "we", "he", "she"]
            c.object = Pronoun(self.choose(pronouns))                       # "m'a vu" or "m'a vue"?
        elif people and verb.fr_prep == "de" and r.chance(15):
            c.object = Pronoun(self.choose(["I", "we", "he", "she"]))
        else:
            avoid = ("two",) if c.negation else ()
            if verb.fr_prep == "de" or verb.en in ("go", "come", "love", "hate") or (c.negation and verb.en not in PAS_DE):
                avoid += ("a",)
            plural = False if verb.en in ("go", "come") and r.chance(70) else None
            c.object = self.noun_phrase(verb.objects, level, avoid, plural=plural, modified=modified and c.verb.en not in GIVING)
            if c.negation and c.object.determiner == "a":                   # "pas de pomme", and no more
                c.object.plural, c.object.pp, c.object.relative = False, None, None
        if verb.en in GIVING:
            if r.chance(40):
                pronouns = ["I", "we", "he", "she"] if c.subject.person not in (0, 2) else ["he", "she"]
                c.recipient = Pronoun(self.choose(pronouns))
            else:
                c.recipient = self.noun_phrase(("human",), 0, ("two",))

    def predicate(self, level, subject=None, gap="", question=False):
        r = self.random
        subject = subject or self.subject(r.weighted((35, ("human",)), (20, ("animal",)), (12, ("food",)), (23, ("thing",)),
                                                     (10, ("place",))), level, definite=True)
        c = Clause(subject, BE, adjective=self.fitting_adjective(subject), gap=gap)
        c.tense = r.weighted((78, "present"), (22, "future"))
        c.negation = "" if question else r.weighted((77, ""), (18, "not"), (5, "never"))
        if c.negation == "never" and c.adjective.group not in PASSING:
            c.negation = "not"
        c.very = not c.negation and r.chance(15)
        if c.tense == "present" and not (c.negation or c.very or question) and c.adjective.group in PASSING and r.chance(25):
            c.adverb = self.choose(list(ADVERBS))
        return c

    # ---- sentences

    def sentence(self):
        level = 4 if self.nested else self.random.weighted((93, 1), (7, 2))
        kind = self.random.weighted((56, self.statement), (9, self.does), (9, self.question_word), (8, self.pronoun_object),
                                    (12, self.because), (6, self.two_clauses))
        return kind(level)

    def statement(self, level):
        return Sentence([self.clause(level)])

    def does(self, level):
        return Sentence([self.clause(level, question=True)], question="does")

    def question_word(self, level):
        word = self.random.weighted((30, "what"), (30, "who"), (20, "where"), (20, "why"))
        if word == "who":
            return Sentence([self.clause(level, Pronoun("who"))], question=word)
        if word == "why":
            return Sentence([self.clause(level)], question=word)
        if word == "what":
            verbs = [v for v in VERBS if direct(v) and v.en not in GIVING and "human" not in v.objects]
        else:
            verbs = [v for v in VERBS if not v.objects and v.en != "arrive" or direct(v) and v.en in WHERE]
        verb = self.choose(verbs)
        c = self.clause(level, None, verb, question=True)
        c.object = None if word == "what" else c.object
        c.pp = None if word == "where" else c.pp
        c.modal, c.adverb, c.time = None, "", False
        return Sentence([c], question=word)

    def pronoun_object(self, level):
        """The girl sees the apple and eats it."""
        verbs = [v for v in VERBS if direct(v) and v.en not in GIVING and v.en != "have"]
        first = self.choose([v for v in verbs if v.en not in FINAL])
        noun = self.choose(nouns_of(first.objects))
        second = self.choose([v for v in verbs_on(noun) if v.en != "have"])
        subject = self.subject(first.subjects if len(first.subjects) < len(second.subjects) else second.subjects, level)
        tense = self.random.weighted((35, "present"), (45, "past"), (20, "future"))
        if "-" in (first.en_past, second.en_past) and tense == "past":
            tense = "present"
        object = self.noun_phrase((), 0, ("two",), noun=noun)
        c = Clause(subject, first, tense, object=object)
        d = Clause(subject, second, tense, object=Pronoun("", object), gap="subject")
        d.negation = self.random.weighted((80, ""), (20, "not"))
        return Sentence([c, d], ["but" if d.negation else "and"])

    def because(self, level):
        """The cat sleeps because it is tired. The girl buys the pear because it is sweet."""
        first = self.clause(level, modified=False)
        first.time = False
        phrases = [p for p in (first.subject, first.object) if isinstance(p, (NounPhrase, Pair))]
        if not phrases:
            return self.statement(level)
        pronoun = Pronoun("", phrases[self.random.below(len(phrases))])
        if first.tense != "past" and (self.random.chance(65) or not alive(pronoun)):
            second = self.predicate(0, pronoun)
            second.tense = "present"
        else:
            if not alive(pronoun):
                return self.statement(level)
            second = self.clause(0, pronoun, tense=first.tense)
            second.time = False
        return Sentence([first, second], ["because"])

    def two_clauses(self, level):
        first, second = self.clause(0), self.clause(0)
        first.time = second.time = False
        return Sentence([first, second], ["but" if bool(first.negation) != bool(second.negation) else "and"])


FINAL = ("eat", "sell", "lose", "break", "forget", "love", "hate")           # one does not eat a cake and then choose it
STATES = ("have", "love", "hate", "forget")                                  # nobody has a bottle with the brother
SEARCHING = ("find", "look", "hide")                                         # then the place is that of the object
WHERE = ("find", "buy", "sell", "hide", "eat", "wait", "touch", "see")


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
