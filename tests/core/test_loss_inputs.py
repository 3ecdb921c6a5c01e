import itertools

import pytest
import torch

from core.loss_inputs import (
    FIELDS,
    INPUT_DTYPES,
    INPUT_SHAPES,
    LOSSES,
    TARGET_DTYPES,
    TARGET_SHAPES,
    case_of,
    script,
    shape_code,
    silent_cases,
    what_does_it_take,
)

ALL = list(itertools.product(LOSSES, INPUT_SHAPES, INPUT_DTYPES, TARGET_SHAPES, TARGET_DTYPES))


@pytest.mark.parametrize("case", ALL, ids=str)
def test_every_combination_is_answered_with_a_cause(case):
    answer = what_does_it_take(*case)
    assert (answer.loss is None) != (answer.error is None)
    assert answer.cause.endswith((".", "?"))
    if answer.error is not None:
        assert not answer.fine


def test_what_is_fine_is_what_the_docs_say():
    fine = {(c[0], c[1], c[3], c[4]) for c in ALL if what_does_it_take(*c).fine}
    assert fine == {
        ("CrossEntropyLoss", (4, 3), (4,), "int64"),
        ("CrossEntropyLoss", (4, 3), (4, 3), "float32"),
        ("BCEWithLogitsLoss", (4, 3), (4, 3), "float32"),
        ("BCEWithLogitsLoss", (4, 1), (4, 1), "float32"),
        ("BCEWithLogitsLoss", (4,), (4,), "float32"),
    }


def test_errors_are_pytorchs_own():
    answer = what_does_it_take("CrossEntropyLoss", (4, 3), "float32", (4,), "float32")
    with pytest.raises(RuntimeError) as raised:
        torch.nn.CrossEntropyLoss()(torch.zeros(4, 3), torch.zeros(4))
    assert answer.error == f"RuntimeError: {raised.value}"


CAUSES = {
    "not implemented": "floating point",
    "Long or Byte": "int64",
    "multi-target": "second dimension",
    "same as input size": "one and the same shape",
    "can't be cast": "y.float()",
    "For 1D input": "no class dimension",
}


@pytest.mark.parametrize("case", ALL, ids=str)
def test_the_cause_is_that_of_the_error_which_pytorch_gave(case):
    answer = what_does_it_take(*case)
    for words, cause in CAUSES.items():
        if words in (answer.error or ""):
            assert cause in answer.cause


def test_cases_that_do_not_fail():
    dim, broadcast, labels = silent_cases()
    assert dim.right == pytest.approx(1)
    assert dim.wrong != pytest.approx(1, abs=0.1)
    assert (broadcast.right, broadcast.wrong) == (0, 2.5)
    assert broadcast.warning.startswith("Using a target size (torch.Size([4])) that is different to the input size")
    assert labels.wrong == 0
    assert labels.right > 0.5


@pytest.mark.parametrize("case", ALL[::5], ids=str)
def test_the_script_prints_the_same_answer(case, run_script):
    answer = what_does_it_take(*case)
    output, _ = run_script(script(*case))
    assert output.rstrip("\n") == (answer.error or f"{answer.loss:.4f}")


def test_an_address_names_every_call():
    for case in ALL:
        loss, given, given_dtype, target, target_dtype = case
        settings = dict(
            zip(FIELDS, (loss.lower(), shape_code(given), given_dtype, shape_code(target), target_dtype), strict=True)
        )
        assert case_of({name: FIELDS[name].parse(name, value) for name, value in settings.items()}) == case
