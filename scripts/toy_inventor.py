"""Draws the sentences of the toy corpus at random: Inventor(seed).sentence() is a structure of toy_structures.py.

From the bottom up: phrases, clauses, and the six kinds of sentences. toy_sense.py says which words go together,
toy_random.py throws the dice, and the order of the throws decides the corpus: swap two of them and each sentence
after that is another one. What the Inventor leaves to chance and comes out unclear, make_toy_corpus.py throws away.
"""
from toy_lexicon import (ADVERBS, BE, GIVING, MODALS, NOT_PREDICATE, PAS_DE, PASSING, PREPOSITIONS, TIMES, VERBS, direct,
                         fits)
from toy_random import Random
from toy_sense import accepts, adjectives_of, alive, nouns_of, past_is_clear, verb_kind, verbs_of, verbs_on
from toy_structures import Clause, NounPhrase, Pair, Pronoun, Sentence

FINAL = ("eat", "sell", "lose", "break", "forget", "love", "hate")           # one does not eat a cake and then choose it
STATES = ("have", "love", "hate", "forget")                                  # nobody has a bottle with the brother
SEARCHING = ("find", "look", "hide")                                         # then the place is that of the object
WHERE = ("find", "buy", "sell", "hide", "eat", "wait", "touch", "see")        # of these one may ask "where?"


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
        if subject is None and verb is None and self.random.chance(24):
            return self.predicate(level, question=question)
        if verb is None:
            verb = self.verb(subject, light)
            if verb is None:
                return self.predicate(level, subject, gap=gap)
        if subject is None:
            subject = self.subject(verb.subjects, level, definite=question)
        c = Clause(subject, verb, object=object, gap=gap)
        self.add_tense(c, tense, light, question)
        if object is None and verb.objects:
            self.add_object(c, level, modified)
        if not light:
            self.add_end(c)
        return c

    def verb(self, subject, light):
        """One that the subject can do, if it is known already; None where it can do nothing."""
        kind = self.random.weighted((50 if not self.nested else 250, "transitive"), (24, "alone"), (16, "preposition"),
                                    (12 if not light else 0, "give"))
        fitting = verbs_of(tuple(subject.nouns)) if subject else VERBS
        return self.choose([v for v in fitting if verb_kind(v) == kind] or fitting) if fitting else None

    def add_tense(self, c, tense, light, question):
        """Tense, negation, and in the present an adverb or a modal verb."""
        r, verb = self.random, c.verb
        c.tense = tense or r.weighted((40, "present"), (32, "past"), (28, "future"))
        if c.tense == "past" and not past_is_clear(verb, c.subject):
            c.tense = "present"
        c.negation = "" if question else r.weighted((78, ""), (17, "not"), (5, "never"))
        if c.tense == "present" and not c.negation and verb.en != "have":
            c.adverb = r.weighted((86, ""), (8, "often"), (6, "always"))
        if c.tense == "present" and not light and not c.adverb and c.negation != "never" and alive(c.subject) and \
                not (question and r.chance(60)) and verb.en not in ("have", "fall", "love", "hate") and r.chance(14):
            c.modal = MODALS[r.below(3)] if not question else MODALS[r.below(2)]

    def add_end(self, c):
        """What trails: with whom or where, or else when."""
        r, verb, animate = self.random, c.verb, alive(c.subject)
        if not verb.objects:
            if verb.en == "stay" or r.chance(45):
                names = ["with", "near"] if verb.en == "swim" else [p for p in PREPOSITIONS if p != "of"]
                names = names if animate else ["in", "on", "under", "near", "behind"]
                c.pp = self.pp(names, 0, animate, pronouns=True)
        elif direct(verb) and verb.en not in GIVING + STATES and r.chance(14):
            c.pp = self.pp(["in", "near", "behind", "with", "in front of"], 0, verb.en not in SEARCHING, pronouns=True)
        elif c.tense in TIMES and not c.negation and not getattr(c.object, "relative", None) and r.chance(20):
            c.time = True

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
