"""The words of the toy corpus: one line per word, with all its forms and what it may be combined with.

Every English word has one French word, so that a translation can be right or wrong. Words with two
readings are left out: no "read" (present and past look alike), no "teacher" (man or woman?), no "big
man" ("un grand homme" is a great man). French nouns and adjectives that begin with h all have a mute h.

The other toy_*.py files take their words from here; make_toy_corpus.py lists them. Import by name, not *: the loops that
read the tables leave names such as `english` behind.
"""
from collections import namedtuple

VOWELS = "aâàeéèêiîoôuœ"
MUTE_H = ("homme", "hommes", "hôpital", "hôpitaux", "hôtel", "hôtels", "heureux", "heureuse", "heureuses", "hier")


def starts_with_vowel(french):
    """Does "le" become "l'" before this word?"""
    return french[0] in VOWELS or french in MUTE_H


def rows(table):
    return [line for line in table.strip().splitlines() if line and not line.startswith("#")]


# ------------------------------------------------------------------------------------------- nouns
# english, plural, french, plural, gender, then the classes that it belongs to. The last ones say what
# can be done with it: hold open shut break; be inside, on, under or by it; go there; find it empty. People and animals
# find room in a place, a seat on a chair, shelter under a tree.
Noun = namedtuple("Noun", "en en_plural fr fr_plural gender kind classes")

NOUNS = []
for line in rows("""
boy       boys       garçon     garçons     m  human
girl      girls      fille      filles      f  human female
man       men        homme      hommes      m  human
woman     women      femme      femmes      f  human female
king      kings      roi        rois        m  human
queen     queens     reine      reines      f  human female
actor     actors     acteur     acteurs     m  human
actress   actresses  actrice    actrices    f  human female
uncle     uncles     oncle      oncles      m  human
aunt      aunts      tante      tantes      f  human female
brother   brothers   frère      frères      m  human
sister    sisters    sœur       sœurs       f  human female

cat       cats       chat       chats       m  animal
dog       dogs       chien      chiens      m  animal
horse     horses     cheval     chevaux     m  animal
bird      birds      oiseau     oiseaux     m  animal
donkey    donkeys    âne        ânes        m  animal
cow       cows       vache      vaches      f  animal
goat      goats      chèvre     chèvres     f  animal
mouse     mice       souris     souris      f  animal
hen       hens       poule      poules      f  animal

apple     apples     pomme      pommes      f  food
orange    oranges    orange     oranges     f  food
pear      pears      poire      poires      f  food
carrot    carrots    carotte    carottes    f  food
cake      cakes      gâteau     gâteaux     m  food
egg       eggs       œuf        œufs        m  food break
lemon     lemons     citron     citrons     m  food
onion     onions     oignon     oignons     m  food

book      books      livre      livres      m  thing hold open shut
letter    letters    lettre     lettres     f  thing hold open
key       keys       clé        clés        f  thing hold break
box       boxes      boîte      boîtes      f  thing hold open shut break inside on empty
knife     knives     couteau    couteaux    m  thing hold break
hat       hats       chapeau    chapeaux    m  thing hold
coat      coats      manteau    manteaux    m  thing hold
bag       bags       sac        sacs        m  thing hold open shut inside empty
bottle    bottles    bouteille  bouteilles  f  thing hold open shut break empty
chair     chairs     chaise     chaises     f  thing hold break seat on under by
table     tables     table      tables      f  thing hold break on shelter by
ladder    ladders    échelle    échelles    f  thing hold break seat on
sword     swords     épée       épées       f  thing hold break
umbrella  umbrellas  parapluie  parapluies  m  thing hold open shut break under
gift      gifts      cadeau     cadeaux     m  thing hold open
tool      tools      outil      outils      m  thing hold break
flower    flowers    fleur      fleurs      f  thing hold
door      doors      porte      portes      f  thing open shut break by
tree      trees      arbre      arbres      m  thing shelter by

house     houses     maison     maisons     f  place building room by
garden    gardens    jardin     jardins     m  place room by go
school    schools    école      écoles      f  place building room by go
church    churches   église     églises     f  place building room by go
castle    castles    château    châteaux    m  place building room by go
forest    forests    forêt      forêts      f  place room
kitchen   kitchens   cuisine    cuisines    f  place building room go
hospital  hospitals  hôpital    hôpitaux    m  place building room by go
hotel     hotels     hôtel      hôtels      m  place building room by go
market    markets    marché     marchés     m  place by go
village   villages   village    villages    m  place room go
bridge    bridges    pont       ponts       m  place seat on shelter by go
"""):
    NOUNS.append(Noun(*line.split()[:6], frozenset(line.split()[5:])))

# -------------------------------------------------------------------------------------- adjectives
# english, position, group, masculine, feminine, their plurals, masculine before a vowel | nouns that take it.
# A noun takes at most one adjective of a group: nothing is both big and small.
Adjective = namedtuple("Adjective", "en position group m f mp fp m_vowel classes")

ADJECTIVES = []
for line in rows("""
big        before size    grand      grande      grands     grandes      grand     | animal food thing place
small      before size    petit      petite      petits     petites      petit     | human animal food thing place
old        before age     vieux      vieille     vieux      vieilles     vieil     | human animal thing place
new        before age     nouveau    nouvelle    nouveaux   nouvelles    nouvel    | thing place
young      before age     jeune      jeune       jeunes     jeunes       jeune     | human animal
beautiful  before look    beau       belle       beaux      belles       bel       | female animal thing place
pretty     before look    joli       jolie       jolis      jolies       joli      | female animal thing place
good       before worth   bon        bonne       bons       bonnes       bon       | human animal food
bad        before worth   mauvais    mauvaise    mauvais    mauvaises    mauvais   | food building
red        after  colour  rouge      rouge       rouges     rouges       rouge     | food thing building
green      after  colour  vert       verte       verts      vertes       vert      | food thing
blue       after  colour  bleu       bleue       bleus      bleues       bleu      | thing building
yellow     after  colour  jaune      jaune       jaunes     jaunes       jaune     | food thing
white      after  colour  blanc      blanche     blancs     blanches     blanc     | animal thing building
black      after  colour  noir       noire       noirs      noires       noir      | animal thing
gray       after  colour  gris       grise       gris       grises       gris      | animal thing building
heavy      after  weight  lourd      lourde      lourds     lourdes      lourd     | animal thing
dirty      after  state   sale       sale        sales      sales        sale      | animal thing building
clean      after  state   propre     propre      propres    propres      propre    | thing building
empty      after  filling vide       vide        vides      vides        vide      | empty building
expensive  after  price   cher       chère       chers      chères       cher      | food thing
cold       after  warmth  froid      froide      froids     froides      froid     | food place
sweet      after  taste   sucré      sucrée      sucrés     sucrées      sucré     | food
happy      after  mood    heureux    heureuse    heureux    heureuses    heureux   | human animal
sad        after  mood    triste     triste      tristes    tristes      triste    | human animal
tired      after  health  fatigué    fatiguée    fatigués   fatiguées    fatigué   | human animal
sick       after  health  malade     malade      malades    malades      malade    | human animal
strong     after  power   fort       forte       forts      fortes       fort      | human animal
brave      after  heart   courageux  courageuse  courageux  courageuses  courageux | human animal
rich       after  wealth  riche      riche       riches     riches       riche     | human
famous     after  fame    célèbre    célèbre     célèbres   célèbres     célèbre   | human place
dangerous  after  danger  dangereux  dangereuse  dangereux  dangereuses  dangereux | human animal
"""):
    forms, classes = line.split("|")
    ADJECTIVES.append(Adjective(*forms.split(), tuple(classes.split())))

# These would be idioms in French ("vieille fille" is a spinster, "bonne sœur" a nun), or odd.
EXCLUDED = (("old", "boy"), ("old", "girl"), ("good", "man"), ("good", "woman"), ("good", "sister"),
            ("beautiful", "sister"), ("small", "sister"), ("small", "brother"),
            ("clean", "tree"), ("dirty", "tree"), ("expensive", "tree"), ("clean", "flower"), ("dirty", "flower"))
NOT_PREDICATE = ("new",)                                # "est neuf" and "est nouveau" are two things
PASSING = ("mood", "health", "state", "filling", "warmth")        # groups that go with often, always and never

# ------------------------------------------------------------------------------------------- verbs
# english: base, third person, past, preposition | french: infinitive, je, il, nous, ils, participle,
# stem of the future, preposition | subjects | objects. A verb in -er with no more forms is regular.
# "-" as past: states, whose past would be an imparfait; we keep to present and future there.
# ê marks the verbs whose past is built with être.
Verb = namedtuple("Verb", "en en_third en_past en_prep infinitive present participle future auxiliary fr_prep "
                          "subjects objects")

VERBS = []
for line in rows("""
eat eats ate          | manger mange mange mangeons mangent mangé manger-               | human animal | food
see sees saw          | voir vois voit voyons voient vu verr-                           | human animal | human animal food thing place
find finds found      | trouver                                                         | human animal | human animal food hold
look looks looked for | chercher                                                        | human animal | human animal food hold place
take takes took       | prendre prends prend prenons prennent pris prendr-              | human animal | food hold
hide hides hid        | cacher                                                          | human animal | food hold
carry carries carried | porter                                                          | human animal | food hold
break breaks broke    | casser                                                          | human animal | break
watch watches watched | regarder                                                        | human animal | human animal
hear hears heard      | entendre entends entend entendons entendent entendu entendr-    | human animal | human animal
follow follows followed | suivre suis suit suivons suivent suivi suivr-                 | human animal | human animal
love loves -          | aimer                                                           | human animal | human animal food place
hate hates -          | détester                                                        | human animal | human animal food place
have has -            | avoir ai a avons ont - aur-                                     | human        | animal food hold
buy buys bought       | acheter achète achète achetons achètent acheté achèter-         | human        | animal food hold
sell sells sold       | vendre vends vend vendons vendent vendu vendr-                  | human        | animal food hold
choose chooses chose  | choisir choisis choisit choisissons choisissent choisi choisir- | human        | animal food hold
lose loses lost       | perdre perds perd perdons perdent perdu perdr-                  | human        | animal hold
forget forgets forgot | oublier                                                         | human        | human hold
open opens opened     | ouvrir ouvre ouvre ouvrons ouvrent ouvert ouvrir-               | human        | open
close closes closed   | fermer                                                          | human        | shut
touch touches touched | toucher                                                         | human        | animal food hold
draw draws drew       | dessiner                                                        | human        | human animal food thing place
help helps helped     | aider                                                           | human        | human animal
call calls called     | appeler appelle appelle appelons appellent appelé appeller-     | human        | human animal
wait waits waited for | attendre attends attend attendons attendent attendu attendr-    | human        | human

give gives gave       | donner                                                          | human        | food hold animal
show shows showed     | montrer                                                         | human        | food hold animal

talk talks talked to    | parler à                                                      | human        | human
talk talks talked about | parler de                                                     | human        | human animal hold place
go goes went to         | ê aller vais va allons vont allé ir- à                        | human animal | go
come comes came from    | ê venir viens vient venons viennent venu viendr- de           | human animal | place

sleep sleeps slept    | dormir dors dort dormons dorment dormi dormir-                  | human animal |
sing sings sang       | chanter                                                         | human        |
dance dances danced   | danser                                                          | human        |
run runs ran          | courir cours court courons courent couru courr-                 | human animal |
work works worked     | travailler                                                      | human        |
cry cries cried       | pleurer                                                         | human        |
laugh laughs laughed  | rire ris rit rions rient ri rir-                                | human        |
swim swims swam       | nager nage nage nageons nagent nagé nager-                      | human animal |
fall falls fell       | ê tomber                                                        | human animal food hold |
arrive arrives arrived | ê arriver                                                      | human animal |
stay stays stayed     | ê rester                                                        | human animal |
"""):
    english, french, subjects, objects = (part.split() for part in line.split("|"))
    auxiliary = "être" if french[0] == "ê" else "avoir"
    french = french[1:] if french[0] == "ê" else french
    fr_prep = french.pop() if french[-1] in ("à", "de") else ""
    if len(french) == 1:
        stem = french[0][:-2]
        french += [stem + "e", stem + "e", stem + "ons", stem + "ent", stem + "é", stem + "er-"]
    VERBS.append(Verb(*english[:3], english[3] if len(english) > 3 else "", french[0], tuple(french[1:5]), french[5],
                      french[6][:-1], auxiliary, fr_prep, tuple(subjects), tuple(objects)))

BE = Verb("be", "is", "-", "", "être", ("suis", "est", "sommes", "sont"), "-", "ser", "avoir", "",
          ("human", "animal", "food", "thing", "place"), ())
FUTURE_ENDINGS = ("ai", "a", "ons", "ont")
AUXILIARIES = {"avoir": ("ai", "a", "avons", "ont"), "être": BE.present}
GIVING = ("give", "show")
# "ne mange pas de pomme": only after these verbs do we put an indefinite object under a negation.
PAS_DE = ("eat", "see", "find", "have", "buy", "sell", "carry", "hear", "draw")

# Verbs that stand before an infinitive, in the present only.
Modal = namedtuple("Modal", "en present")
MODALS = (Modal("want", ("veux", "veut", "voulons", "veulent")),
          Modal("can", ("peux", "peut", "pouvons", "peuvent")),
          Modal("must", ("dois", "doit", "devons", "doivent")))

# ---------------------------------------------------------------------------------- function words
# "it" and "they" stand for a noun of the same sentence, so their French gender is known.
Person = namedtuple("Person", "subject object fr_subject direct indirect tonic person gender plural")
PERSONS = {
    "I":      Person("I",    "me",   "je",    "me",   "me",   "moi",  0, None, False),
    "we":     Person("we",   "us",   "nous",  "nous", "nous", "nous", 2, None, True),
    "he":     Person("he",   "him",  "il",    "le",   "lui",  "lui",  1, "m",  False),
    "she":    Person("she",  "her",  "elle",  "la",   "lui",  "elle", 1, "f",  False),
    "it m":   Person("it",   "it",   "il",    "le",   None,   None,   1, "m",  False),
    "it f":   Person("it",   "it",   "elle",  "la",   None,   None,   1, "f",  False),
    "they m": Person("they", "them", "ils",   "les",  None,   None,   3, "m",  True),
    "they f": Person("they", "them", "elles", "les",  None,   None,   3, "f",  True),
    "who":    Person("who",  None,   "qui",   None,   None,   None,   1, "m",  False),
}
# english singular, plural | french masculine, feminine, plural, masculine and feminine before a vowel.
DETERMINERS = {
    "the":  ("the", "the",   "le", "la", "les", "le", "la"),
    "a":    ("a", "some",    "un", "une", "des", "un", "une"),
    "this": ("this", "these", "ce", "cette", "ces", "cet", "cette"),
    "my":   ("my", "my",     "mon", "ma", "mes", "mon", "mon"),
    "our":  ("our", "our",   "notre", "notre", "nos", "notre", "notre"),
    "his":  ("his", "his",   "son", "sa", "ses", "son", "son"),
    "her":  ("her", "her",   "son", "sa", "ses", "son", "son"),
    "two":  (None, "two",    None, None, "deux", None, None),
}
# english: (french, nouns it goes with when people or animals are there, and when things are there)
PREPOSITIONS = {
    "in": ("dans", "room", "room inside"), "on": ("sur", "seat", "on"), "under": ("sous", "shelter", "shelter under"),
    "behind": ("derrière", "human animal by", "human animal by"), "near": ("près de", "human animal by", "human animal by"),
    "in front of": ("devant", "human animal by", "human animal by"), "with": ("avec", "human animal", "human animal"),
    "of": ("de", "human", "human"),
}
ADVERBS = {"often": "souvent", "always": "toujours"}
TIMES = {"past": ("yesterday", "hier"), "future": ("tomorrow", "demain")}
CONJUNCTIONS = {"and": "et", "but": "mais", "because": "parce que"}
QUESTIONS = {"does": "est-ce que", "what": "que est-ce que", "where": "où est-ce que", "why": "pourquoi est-ce que"}


def fits(noun, classes):
    return not noun.classes.isdisjoint(classes)


def adjective_fits(adjective, noun):
    return fits(noun, adjective.classes) and (adjective.en, noun.en) not in EXCLUDED


def direct(verb):
    """Is its French object a direct one? A participle can agree with that one only ("look for" is direct: chercher)."""
    return bool(verb.objects) and not verb.fr_prep
