import math
from dataclasses import dataclass

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from juror.domain import Domain
from juror.domain.evidence import Not, Range, both, divided_for, weights_of
from juror.domain.variable import Variable
from juror.errors import JurorError, QueryError
from juror.model import query

examples = settings(deadline=None, max_examples=200)

ODD_LABELS = ("a b", "c,d", 'q"t', "o'c", "p|q", "ünï", "", "{x}", "back\\slash", "=", "not", "日本", "x\ny", "4")
DOMAIN = Domain(
    (
        Variable("class", ("unacc", "acc", "good")),
        Variable("safety", ("low", "med", "high"), "ordinal"),
        Variable("doors", (2, 3, 4, 5), "ordinal"),
        Variable("age", ("[0, 18)", "[18, 65)", "[65, 120]"), "binned", (0, 18, 65, 120)),
        Variable('odd one, "is" it|n\'t', ODD_LABELS),
        Variable("日本", ("x", "y")),
        Variable("x.y-z", ("x", "y")),
        Variable("Class", ("x", "y")),
        Variable("flag", (False, True)),
    )
)
ODD = r'''"odd one, \"is\" it|n't"'''


@dataclass
class Read:
    targets: tuple
    evidence: dict
    domain: Domain


def evaluated(parsed, domain):
    """Conditions as evidence about a domain that is divided where they need it."""
    divided = divided_for(domain, ((one.position, one.wanted) for one in parsed.conditions))
    return Read(parsed.targets, parsed.evidence(divided, domain), divided)


def read(question, domain):
    """Both steps: a question as targets and evidence."""
    return evaluated(query.parse(question, domain), domain)


def read_conditions(text, domain):
    return evaluated(query.parse_conditions(text, domain), domain)


def weights_by_name(asked):
    return {asked.domain[n].name: weights.tolist() for n, weights in asked.evidence.items()}


def understood(question, domain=DOMAIN):
    """The names asked for, and the labels' weights by variable."""
    asked = read(question, domain)
    return [domain[n].name for n in asked.targets], weights_by_name(asked)


def test_understood_tells_answers_apart():
    assert understood("class | doors = 2") == (["class"], {"doors": [1, 0, 0, 0]})
    assert understood("class | doors = 2") != (["safety"], {"doors": [1, 0, 0, 0]})
    assert understood("class | doors = 2") != (["class"], {"doors": [0, 1, 0, 0]})
    assert understood("class | doors = 2") != (["class"], {})


# What is asked for


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("class", ["class"]),
        ("class, doors", ["class", "doors"]),
        ("doors,class", ["doors", "class"]),
        ("  class  ,\tdoors\n", ["class", "doors"]),
        ('"class"', ["class"]),
        ("'class', doors", ["class", "doors"]),
        ("日本", ["日本"]),
        ("x.y-z", ["x.y-z"]),
        ("Class, class", ["Class", "class"]),
        (ODD, ['odd one, "is" it|n\'t']),
        (r"""'odd one, "is" it|n\'t'""", ['odd one, "is" it|n\'t']),
    ],
    ids=ascii,
)
def test_names(question, names):
    assert understood(question) == (names, {})


@pytest.mark.parametrize("question", ["P(class | safety = low)", " P( class | safety = low ) "])
def test_a_question_may_stand_in_p(question):
    assert understood(question) == understood("class | safety = low")


def test_a_name_may_begin_with_p():
    domain = Domain([Variable("P(a)", ("x", "y")), Variable("b", (0, 1))])
    assert query.parse("P(a)", domain).targets == (0,)


# Conditions


@pytest.mark.parametrize(
    ("condition", "name", "weights"),
    [
        ("class = acc", "class", [0, 1, 0]),
        ("class=acc", "class", [0, 1, 0]),
        ("class != acc", "class", [1, 0, 1]),
        ("class!=acc", "class", [1, 0, 1]),
        ("not class = acc", "class", [1, 0, 1]),
        ("not class != acc", "class", [0, 1, 0]),
        ("class in {acc}", "class", [0, 1, 0]),
        ("class in {acc, good}", "class", [0, 1, 1]),
        ("class in{acc,good}", "class", [0, 1, 1]),
        ("class in {acc, acc}", "class", [0, 1, 0]),
        ("not class in {acc, good}", "class", [1, 0, 0]),
        ("NOT class IN {acc, good}", "class", [1, 0, 0]),
        ("safety >= med", "safety", [0, 1, 1]),
        ("safety > med", "safety", [0, 0, 1]),
        ("safety <= med", "safety", [1, 1, 0]),
        ("safety < med", "safety", [1, 0, 0]),
        ("safety>=med", "safety", [0, 1, 1]),
        ("not safety < med", "safety", [0, 1, 1]),
        ("doors = 4", "doors", [0, 0, 1, 0]),
        ("doors = '4'", "doors", [0, 0, 1, 0]),
        ("doors >= 3.5", "doors", [0, 0, 1, 1]),
        ("doors > 3", "doors", [0, 0, 1, 1]),
        ("doors > 3.0", "doors", [0, 0, 1, 1]),
        ("doors <= 3.0", "doors", [1, 1, 0, 0]),
        ("doors < 100", "doors", [1, 1, 1, 1]),
        ("doors >= -1", "doors", [1, 1, 1, 1]),
        ("age = 30", "age", [0, 1, 0]),
        ("age = '[18, 65)'", "age", [0, 1, 0]),
        ("age >= 18", "age", [0, 1, 1]),
        ("age < 65", "age", [1, 1, 0]),
        ("age in {'[0, 18)', '[65, 120]'}", "age", [1, 0, 1]),
        ("flag = True", "flag", [0, 1]),
        ("日本 = y", "日本", [0, 1]),
        ("x.y-z = y", "x.y-z", [0, 1]),
        ("'class' = \"acc\"", "class", [0, 1, 0]),
        ("  class\n=\tacc  ", "class", [0, 1, 0]),
        ("class\u00a0=\u3000acc", "class", [0, 1, 0]),
    ],
    ids=ascii,
)
def test_conditions(condition, name, weights):
    assert understood(f"class | {condition}") == (["class"], {name: weights})
    assert weights_by_name(read_conditions(condition, DOMAIN)) == {name: weights}


@pytest.mark.parametrize(
    ("condition", "edges", "weights"),
    [
        ("age >= 30", (0, 18, 30, 65, 120), [0, 0, 1, 1]),
        ("not age >= 30", (0, 18, 30, 65, 120), [1, 1, 0, 0]),
        ("30 <= age < 50", (0, 18, 30, 50, 65, 120), [0, 0, 1, 0, 0]),
        ("age >= 30, age < 70.5", (0, 18, 30, 65, 70.5, 120), [0, 0, 1, 1, 0]),
        ("age >= 30, age <= '[18, 65)'", (0, 18, 30, 65, 120), [0, 0, 1, 0]),
        ("age < 30, age in {'[18, 65)', '[65, 120]'}", (0, 18, 30, 65, 120), [0, 1, 0, 0]),
        ("age > 18", (0, 18, math.nextafter(18, 19), 65, 120), [0, 0, 1, 1]),
        ("age >= 200", (0, 18, 65, 120), [0, 0, 0]),
        ("age >= -5", (0, 18, 65, 120), [1, 1, 1]),
        ("age <= inf", (0, 18, 65, 120), [1, 1, 1]),
    ],
)
def test_ranges_may_end_at_any_number(condition, edges, weights):
    """Intervals are divided where a condition ends inside them; labels then stand for all parts."""
    asked = read(f"class | {condition}", DOMAIN)
    assert asked.domain["age"].edges == edges
    assert weights_by_name(asked) == {"age": weights}


def quoted(text, mark='"'):
    return mark + text.replace("\\", "\\\\").replace(mark, "\\" + mark) + mark


@pytest.mark.parametrize("mark", ['"', "'"])
@pytest.mark.parametrize("label", ODD_LABELS, ids=ascii)
def test_any_label_can_be_quoted(label, mark):
    weights = [float(other == label) for other in ODD_LABELS]
    assert understood(f"class | {ODD} = {quoted(label, mark)}")[1] == {DOMAIN[4].name: weights}
    assert understood(f"class | {ODD} in {{{quoted(label, mark)}}}")[1] == {DOMAIN[4].name: weights}


@pytest.mark.parametrize("label", ["ünï", "日本", "back\\slash", "not", "4"], ids=ascii)
def test_a_label_without_marks_needs_no_quotes(label):
    assert understood(f"class | {ODD} = {label}")[1] == {DOMAIN[4].name: [float(o == label) for o in ODD_LABELS]}


@pytest.mark.parametrize(
    ("conditions", "evidence"),
    [
        ("doors = 4, safety = low", {"doors": [0, 0, 1, 0], "safety": [1, 0, 0]}),
        ("doors >= 3, doors < 5", {"doors": [0, 1, 1, 0]}),
        ("doors >= 3, not doors = 4, safety != low", {"doors": [0, 1, 0, 1], "safety": [0, 1, 1]}),
        ("doors < 3, doors > 3", {"doors": [0, 0, 0, 0]}),
        ("class = acc", {"class": [0, 1, 0]}),
    ],
    ids=str,
)
def test_conditions_all_hold(conditions, evidence):
    assert understood(f"class | {conditions}") == (["class"], evidence)


# Keywords as names

KEYWORDS = Domain(
    (Variable("not", ("not", "in")), Variable("in", ("not", "in")), Variable("NOT", ("x",)), Variable("or", ("x", "y")))
)


@pytest.mark.parametrize(
    ("question", "names", "evidence"),
    [
        ("not", ["not"], {}),
        ("in", ["in"], {}),
        ("not, in, NOT", ["not", "in", "NOT"], {}),
        ("or | not = not", ["or"], {"not": [1, 0]}),
        ("or | in = in", ["or"], {"in": [0, 1]}),
        ("or | in in {in}", ["or"], {"in": [0, 1]}),
        ("or | not not = not", ["or"], {"not": [0, 1]}),
        ("or | not not in {not}", ["or"], {"not": [0, 1]}),
        ("or | not in = in", ["or"], {"in": [1, 0]}),
        ("or | not in in {in}", ["or"], {"in": [1, 0]}),
        ("or | NOT = x", ["or"], {"NOT": [1]}),
        ("or | 'not' in {not}", ["or"], {"not": [1, 0]}),
        ("or | not 'not' = not", ["or"], {"not": [0, 1]}),
        ("not | not = in, in != in", ["not"], {"not": [0, 1], "in": [1, 0]}),
        # the grammar has one reading of this: the name is "not", for a brace never follows a name
        ("or | not in {not}", ["or"], {"not": [1, 0]}),
    ],
)
def test_keywords_as_names(question, names, evidence):
    assert understood(question, KEYWORDS) == (names, evidence)


def test_no_variable_called_not_changes_nothing():
    domain = Domain((Variable("a", ("x", "y")),))
    assert understood("a | not a in {x}", domain) == (["a"], {"a": [0, 1]})


# Ranges with the variable in the middle, or at the end


@pytest.mark.parametrize(
    ("condition", "name", "weights"),
    [
        ("3 <= doors < 5", "doors", [0, 1, 1, 0]),
        ("5 > doors >= 3", "doors", [0, 1, 1, 0]),
        ("3<doors<=5", "doors", [0, 0, 1, 1]),
        ("5 >= doors > 3", "doors", [0, 0, 1, 1]),
        ("3 <= doors", "doors", [0, 1, 1, 1]),
        ("3 > doors", "doors", [1, 0, 0, 0]),
        ("2.5 < doors < 4.5", "doors", [0, 1, 1, 0]),
        ("5 <= doors < 3", "doors", [0, 0, 0, 0]),
        ("not 3 <= doors < 5", "doors", [1, 0, 0, 1]),
        ("not 3 <= doors", "doors", [1, 0, 0, 0]),
        ("low < safety <= high", "safety", [0, 1, 1]),
        ("'low' < \"safety\" < 'high'", "safety", [0, 1, 0]),
        ("high >= safety", "safety", [1, 1, 1]),
        ("18 <= age < 65", "age", [0, 1, 0]),
        ("'[18, 65)' <= age", "age", [0, 1, 1]),
        ("3 <= doors < 5, doors != 4", "doors", [0, 1, 0, 0]),
    ],
    ids=ascii,
)
def test_ranges_that_begin_with_a_bound(condition, name, weights):
    assert understood(f"class | {condition}") == (["class"], {name: weights})


def test_a_chain_is_one_range():
    (condition,) = query.parse_conditions("18 <= age < 65", DOMAIN).conditions
    assert condition.wanted == Range(at_least="18", below="65")
    assert (condition.position, condition.start, condition.end) == (DOMAIN.position("age"), 0, len("18 <= age < 65"))


def test_a_label_that_is_also_a_name_begins_a_chain():
    """Where two comparisons surround a name there is one reading; with one comparison the first word is the name."""
    domain = Domain((Variable("low", (1, 2, 3), "ordinal"), Variable("size", ("low", "mid", "high"), "ordinal")))
    assert understood("low | low < size <= high", domain) == (["low"], {"size": [0, 1, 1]})
    assert understood("low | low < 3", domain) == (["low"], {"low": [1, 1, 0]})


@pytest.mark.parametrize(
    ("condition", "words", "marked"),
    [
        ("3 <= doors > 5", "Both comparisons of a range have the same direction: < or <= here.", ">"),
        ("3 > doors <= 5", "Both comparisons of a range have the same direction: > or >= here.", "<="),
        ("3 <= doors = 5", "Both comparisons of a range have the same direction", "="),
        ("doors >= 3 < 5", "The variable stands in the middle of a range, like 30 <= doors < 40;", "<"),
        ("3 <= dors < 5", "There is no variable 'dors'. Did you mean 'doors'?", "dors"),
        ("3 <= dors", "There is no variable 'dors'. Did you mean 'doors'?", "dors"),
        ("3 <= doors <", "A label is missing here.", ""),
        ("3 <= doors < 5 < 7", "Expected ','", "<"),
        ("acc <= class < good", "Variable 'class' is nominal", "acc <= class < good"),
        ("low < safety <= hgh", "Variable 'safety' has no label 'hgh'. Did you mean 'high'?", "low < safety <= hgh"),
    ],
)
def test_mistakes_in_chains(condition, words, marked):
    said, shown = refusal(f"class | {condition}")
    assert said.startswith(words)
    assert shown.strip() == marked


# Labels that begin with a comparison

INCOME = Domain(
    (
        Variable("income", ("<=50K", ">50K", "> 1 million", "=0", "none")),
        Variable("age", ("<18", "18-64", ">=65"), "ordinal"),
        Variable("plain", ("50K", ">50K")),
    )
)


@pytest.mark.parametrize(
    ("condition", "name", "weights"),
    [
        ("income = >50K", "income", [0, 1, 0, 0, 0]),
        ("income = <=50K", "income", [1, 0, 0, 0, 0]),
        ("income=>50K", "income", [0, 1, 0, 0, 0]),
        ("income=<=50K", "income", [1, 0, 0, 0, 0]),
        ("income==0", "income", [0, 0, 0, 1, 0]),
        ("income != >50K", "income", [1, 0, 1, 1, 1]),
        ("income!=>50K", "income", [1, 0, 1, 1, 1]),
        ("income = > 1 million", "income", [0, 0, 1, 0, 0]),
        ("income in {<=50K, >50K}", "income", [1, 1, 0, 0, 0]),
        ("income in {>50K,none,=0}", "income", [0, 1, 0, 1, 1]),
        ("not income = >50K", "income", [1, 0, 1, 1, 1]),
        ("income = '>50K'", "income", [0, 1, 0, 0, 0]),
        ("age > <18", "age", [0, 1, 1]),
        ("18-64 <= age <= >=65", "age", [0, 1, 1]),
        ("plain = >50K", "plain", [0, 1]),
        ("plain = 50K", "plain", [1, 0]),
    ],
    ids=ascii,
)
def test_labels_that_begin_with_a_comparison(condition, name, weights):
    assert understood(f"income | {condition}", INCOME) == (["income"], {name: weights})


@pytest.mark.parametrize(
    ("condition", "words", "marked"),
    [
        ("income = >60K", "A label is missing here. Put a label with <, > or = in quotes.", ">"),
        ("income = >50", "A label is missing here. Put a label with <, > or = in quotes.", ">"),
        ("income => 50K", "Write >= here.", "=>"),
        ("income <>50K", "Write != here.", "<>"),
        ("<18 < age", "The name of a variable is missing here.", "<"),
        ("income >50K", "Variable 'income' is nominal, so it has no ranges.", "income >50K"),
        ("income = >50K more", "Expected ','", "more"),
        ("age >=65", "Variable 'age' has no label '65'. Did you mean '>=65'?", "age >=65"),
    ],
)
def test_mistakes_with_labels_that_begin_with_a_comparison(condition, words, marked):
    said, shown = refusal(f"income | {condition}", INCOME)
    assert said.startswith(words)
    assert shown.strip() == marked
    if marked == condition:
        assert said.endswith(f"If {condition.split(maxsplit=1)[1]!r} is meant, write = before it.")


def test_a_date_with_a_time_is_one_word():
    domain = Domain((Variable("at", ("2024-03-01 12:30", "later")),))
    assert understood("at | at = 2024-03-01 12:30", domain) == (["at"], {"at": [1, 0]})


# Evaluation is a step of its own


def test_conditions_are_evaluated_in_another_domain():
    """A question is parsed once; a domain whose intervals are cut where it says gives its evidence."""
    coarse = Domain((Variable("age", ("[0, 65)", "[65, 120]"), "binned", (0, 65, 120)),))
    edges, labels = (0, 18, 40, 65, 120), ("[0, 18)", "[18, 40)", "[40, 65)", "[65, 120]")
    fine = Domain((Variable("age", labels, "binned", edges),))
    parsed = query.parse("age | 18 <= age < 40", coarse)
    assert parsed.evidence(fine)[0].tolist() == [0, 1, 0, 0]


# Mistakes


def refusal(question, domain=DOMAIN, read=read):
    """The sentence of a refusal, and the part of the question that its caret marks."""
    with pytest.raises(QueryError) as caught:
        read(question, domain)
    *sentence, shown, pointer = str(caught.value).split("\n")
    start = pointer.index("^")
    assert set(pointer[:start]) <= {" "}
    assert set(pointer[start:]) == {"^"}
    assert shown.startswith("  ")
    assert shown[2:].strip() == question.strip()
    return "\n".join(sentence), shown[start : len(pointer)]


def test_refusal_tells_places_apart():
    assert refusal("clas")[1] == "clas"
    assert refusal("class, clas")[1] != "class"
    with pytest.raises(BaseException, match="DID NOT RAISE"):
        refusal("class")


CONDITION = "After 'safety' comes one of =, !=, >=, >, <=, < or 'in {…}'."
NO_NAME = "The name of a variable is missing here."
NO_LABEL = "A label is missing here."
UNCLOSED_SET = "The set of labels is not closed: '}' is missing. Labels of several words need quotes."
NO_OR = "There is no 'or'. Write in {…} for several labels of one variable, and ask twice for different ones."
BRACES = "After 'in' comes a set of labels in braces, like {low, high}."
TO_THE_RIGHT = (
    "A condition stands to the right of a bar; to its left stand the names of the variables asked for, and the "
    "answer has all their labels. For the probability of a condition use model.prob."
)


@pytest.mark.parametrize(
    ("question", "sentence", "marked"),
    [
        ("clas", "There is no variable 'clas'. Did you mean 'class'?", "clas"),
        ("  clas", "There is no variable 'clas'. Did you mean 'class'?", "clas"),
        ("class, sfety", "There is no variable 'sfety'. Did you mean 'safety'?", "sfety"),
        ('class, "sfety"', "There is no variable 'sfety'. Did you mean 'safety'?", '"sfety"'),
        ("class | saftey = low", "There is no variable 'saftey'. Did you mean 'safety'?", "saftey"),
        ("class, class", "'class' is asked for twice.", "class"),
        ("class | safety", CONDITION, ""),
        ("class | safety low", CONDITION, "low"),
        ("class | safety, doors = 3", CONDITION, ","),
        ("class | safety | doors", CONDITION, "|"),
        ("class | safety ( low", CONDITION, "("),
        ("class |", NO_NAME, ""),
        ("class,", NO_NAME, ""),
        ("class,, doors", NO_NAME, ","),
        ("| safety = low", NO_NAME, "|"),
        ("class | = low", NO_NAME, "="),
        ("class | safety = low,", NO_NAME, ""),
        ("class | not", NO_NAME, ""),
        ("{class}", NO_NAME, "{"),
        (">= 3", NO_NAME, ">="),
        ("class | safety =", NO_LABEL, ""),
        ("class | safety >=", NO_LABEL, ""),
        ("class | safety = , doors = 3", NO_LABEL, ","),
        ("class | safety in {}", NO_LABEL, "}"),
        ("class | safety in {low,}", NO_LABEL, "}"),
        ("class | safety in {,low}", NO_LABEL, ","),
        ("class | safety in {low", UNCLOSED_SET, ""),
        ("class | safety in {low med}", UNCLOSED_SET, "med"),
        ("class | safety in", BRACES, ""),
        ("class | safety in low", BRACES, "low"),
        ("class | safety in (low)", BRACES, "(low)"),
        ("class = acc", TO_THE_RIGHT, "="),
        ("class, safety >= low", TO_THE_RIGHT, ">="),
        ("class | safety = 'low", "This quote is not closed.", "'"),
        ('class | safety = "low', "This quote is not closed.", '"'),
        ("class | safety = o'c", "This quote is not closed.", "'"),
        ("class | safety ! low", "'!' is not understood.", "!"),
        ("class | safety = low and doors = 3", "Write a comma here.", "and"),
        ("class | safety = low & doors = 3", "Write a comma here.", "&"),
        ("class AND doors", "Write a comma here.", "AND"),
        ("class | safety = low or doors = 3", NO_OR, "or"),
        ("class | safety = low or high", NO_OR, "or"),
    ],
    ids=ascii,
)
def test_mistakes_are_named_and_marked(question, sentence, marked):
    said, shown = refusal(question)
    assert said == sentence
    assert shown.strip() == marked


@pytest.mark.parametrize(
    ("question", "marked"),
    [("class safety", "safety"), ("class | safety = low doors = 3", "doors"), ("class | safety = high low", "low")],
)
def test_a_missing_comma_or_quote(question, marked):
    said, shown = refusal(question)
    assert said.startswith("Expected ")
    assert said.endswith("Names and labels of several words need quotes.")
    assert shown == marked


@pytest.mark.parametrize(
    ("question", "marked"),
    [("class }", "}"), ("class | safety = low }", "}")],
)
def test_what_stands_too_late(question, marked):
    said, shown = refusal(question)
    assert said.startswith("Expected ")
    assert shown == marked


def test_a_second_bar():
    said, shown = refusal("class | safety = low | doors = 3")
    assert said == "A question has one bar; further conditions follow after a comma."
    assert shown == "|"


@pytest.mark.parametrize(("wrong", "right"), [("==", "="), ("=>", ">="), ("=<", "<="), ("<>", "!=")])
def test_comparisons_of_other_languages(wrong, right):
    assert refusal(f"class | safety {wrong} low") == (f"Write {right} here.", wrong)


@pytest.mark.parametrize(
    ("question", "words", "part"),
    [
        ("class | safety = hgh", "Variable 'safety' has no label 'hgh'. Did you mean 'high'?", "hgh"),
        ("class | safety in {low, hgh}, doors = 3", "Variable 'safety' has no label 'hgh'.", "hgh"),
        ("class | doors = 3, safety = hgh", "Variable 'safety' has no label 'hgh'.", "hgh"),
        ("class | safety = LOW", "Variable 'safety' has no label 'LOW'.", "LOW"),
        ("class | class > acc", "Variable 'class' is nominal, so it has no ranges.", "class > acc"),
        ("class | not class > acc", "Variable 'class' is nominal, so it has no ranges.", "class > acc"),
        ("class | age >= old", "'old' is neither a number nor an interval of 'age'", "old"),
        ("class | age = 200", "Variable 'age' has no label '200'. Its edges are [0, 18, 65, 120].", "200"),
        ("class | age in {3, 70}", "None of ['3', '70'] has a probability, as 'age' is continuous.", "age in {3, 70}"),
        ("class | age = old", "Variable 'age' has no label 'old'.", "old"),
        ("class | doors = '3", "This quote is not closed.", "'"),
    ],
)
def test_what_a_variable_refuses_is_marked(question, words, part):
    said, shown = refusal(question)
    assert said.startswith(words)
    assert part in shown
    assert "doors = 3" not in shown


@pytest.mark.parametrize("space", ["\n", "\t", "\r\n"], ids=ascii)
def test_the_caret_stands_under_its_place_after_tabs_and_line_breaks(space):
    question = f"{space}class,{space}safety{space}| doors = nine"
    with pytest.raises(QueryError) as caught:
        read(question, DOMAIN)
    # as a terminal shows it: tabs take more than one column, and a line break starts at the margin
    *_, shown, pointer = str(caught.value).expandtabs().splitlines()
    start = pointer.index("^")
    assert "nine" in shown[start : len(pointer)]
    assert "safety" not in shown[start : len(pointer)]


@pytest.mark.parametrize(
    ("condition", "words", "marked"),
    [
        ("safety = low | doors = 3", "Expected ',' and another condition, or the end.", "|"),
        ("safety", CONDITION, ""),
        ("| safety = low", NO_NAME, "|"),
        ("safety = low,", NO_NAME, ""),
    ],
)
def test_mistakes_in_conditions_alone(condition, words, marked):
    said, shown = refusal(condition, read=read_conditions)
    assert said == words
    assert shown.strip() == marked


@pytest.mark.parametrize("read", [read, read_conditions])
@pytest.mark.parametrize("text", ["", " ", "\n\t", "\u3000"], ids=ascii)
def test_nothing_asked(text, read):
    with pytest.raises(QueryError, match="is empty"):
        read(text, DOMAIN)


@pytest.mark.parametrize("read", [read, read_conditions])
@pytest.mark.parametrize("question", [None, 5, b"class", ["class"]], ids=repr)
def test_a_question_is_text(question, read):
    with pytest.raises(QueryError, match=r"A question is text, like 'class'\. Got"):
        read(question, DOMAIN)


# Any text at all

PIECES = ["class", "safety", "doors", "age", "low", "3", "18", "not", "in", "日本", '"', "'", "\\", "1e999", "nan"]
MARKS = ["=", "!=", ">=", ">", "<=", "<", "|", ",", "{", "}", "!", " ", "\n"]
sentences = st.lists(st.sampled_from(PIECES + MARKS), max_size=16).map("".join)


@pytest.mark.parametrize("read", [read, read_conditions], ids=["question", "conditions"])
@examples
@given(text=st.text() | sentences | sentences.map(lambda text: "class | " + text))
@example("class | age >= inf")
@example("class | doors >= " + "9" * 5000)
@example('class | doors = "\\')
@example("\ud800")
def test_any_text_is_understood_or_refused(read, text):
    try:
        answer = read(text, DOMAIN)
    except QueryError:
        return
    assert all(weights.shape == (answer.domain[n].cardinality,) for n, weights in answer.evidence.items())


FORMS = {
    "=": lambda label: label,
    "!=": Not,
    ">=": lambda label: Range(at_least=label),
    ">": lambda label: Range(above=label),
    "<=": lambda label: Range(at_most=label),
    "<": lambda label: Range(below=label),
}
words = st.text(max_size=5)
spaces = st.sampled_from(["", " ", "  ", "\n", "\t"])


@settings(deadline=None, max_examples=80)
@given(
    data=st.data(),
    names=st.lists(words.filter(str.strip), min_size=2, max_size=4, unique=True),
    labels=st.lists(words, min_size=1, max_size=4, unique=True),
)
def test_what_is_written_is_what_is_read(data, names, labels):
    """Any names and labels, quoted: the question means what the same evidence in Python means."""
    domain = Domain(tuple(Variable(name, tuple(labels), "ordinal") for name in names))
    text, expected = quoted(names[0]), {}
    for i in range(data.draw(st.integers(0, 4))):
        name, label = data.draw(st.sampled_from(names)), data.draw(st.sampled_from(labels))
        sign, negated = data.draw(st.sampled_from([*FORMS, "in"])), data.draw(st.booleans())
        some = data.draw(st.lists(st.sampled_from(labels), min_size=1, max_size=3))
        written = "{" + ",".join(quoted(other, "'") for other in some) + "}" if sign == "in" else quoted(label)
        wanted = some if sign == "in" else FORMS[sign](label)
        space = data.draw(spaces)
        text += (
            f"{space}{',' if i else '|'}{space}{'not ' if negated else ''}{quoted(name)}{space}{sign}{space}{written}"
        )
        position = domain.position(name)
        expected = both(expected, {position: weights_of(domain[name], Not(wanted) if negated else wanted)})
    asked = read(text, domain)
    assert asked.targets == (0,)
    assert {n: w.tolist() for n, w in asked.evidence.items()} == {n: w.tolist() for n, w in expected.items()}


def test_a_long_question_is_read_in_a_moment():
    question = "class | doors in {" + ", ".join(["3"] * 20_000) + "}"
    assert understood(question) == (["class"], {"doors": [0, 1, 0, 0]})


def test_query_errors_are_juror_errors():
    with pytest.raises(JurorError):
        read("clas", DOMAIN)


def test_a_label_of_several_words_without_quotes_is_told_to_have_them():
    domain = Domain.infer({"grade": ["warrant officer", "officer"], "sex": ["f", "m"]})
    with pytest.raises(QueryError, match=r"Did you mean 'warrant officer'\? Labels of several words need quotes\."):
        read("sex | grade = warrant officer", domain)


def test_a_name_of_several_words_without_quotes_is_told_to_have_them():
    domain = Domain.infer({"home town": ["a", "b"], "sex": ["f", "m"]})
    with pytest.raises(QueryError, match=r"Did you mean 'home town'\? Names of several words need quotes\."):
        read("home town | sex = f", domain)


class TestEvents:
    """An event in text, as in ``prob``, may say behind a bar what is given."""

    @pytest.mark.parametrize(
        "text", ["class = good, doors >= 4 | safety = high", "P(class = good, doors >= 4|safety=high)"]
    )
    def test_what_is_given_follows_the_bar(self, text):
        wanted, behind_bar = (evaluated(parsed, DOMAIN) for parsed in query.parse_event(text, DOMAIN))
        assert weights_by_name(wanted) == {"class": [0, 0, 1], "doors": [0, 0, 1, 1]}
        assert weights_by_name(behind_bar) == {"safety": [0, 0, 1]}

    def test_without_a_bar_nothing_is_given(self):
        assert query.parse_event("class = good", DOMAIN)[1].conditions == ()

    @pytest.mark.parametrize(
        ("text", "words", "marked"),
        [
            ("class = good | safety = low | doors = 3", "A question has one bar", "|"),
            ("class = good | safty = low", "There is no variable 'safty'. Did you mean 'safety'?", "safty"),
            ("class = good more", "Expected ',' and another condition, '|' and what is given, or the end.", "more"),
        ],
    )
    def test_mistakes(self, text, words, marked):
        said, shown = refusal(text, read=query.parse_event)
        assert said.startswith(words)
        assert shown.strip() == marked
