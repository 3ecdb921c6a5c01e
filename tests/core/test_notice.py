from dataclasses import replace

from core.fit import Run
from core.fit_config import FitConfig
from core.live import finished
from core.notice import disagreement, first_epoch, turn

RECORDS = finished(FitConfig())


def test_val_loss_turns_at_epoch_4_and_train_loss_goes_on() -> None:
    found = turn(RECORDS)
    assert found.best.epoch == 4
    assert found.last.epoch == 12
    assert found.overfits
    assert not turn(RECORDS[:4]).overfits


def test_an_epoch_of_higher_accuracy_has_a_higher_loss() -> None:
    best, sharpest = disagreement(RECORDS)
    assert best.epoch == 4
    assert sharpest.val_acc > best.val_acc
    assert sharpest.val_loss > best.val_loss
    assert disagreement(RECORDS[:1]) is None


def test_epoch_1_starts_high_because_it_is_measured_on_the_way() -> None:
    found = first_epoch(FitConfig())
    assert found.on_the_way == RECORDS[0].train_loss
    assert found.val_loss == RECORDS[0].val_loss
    assert found.at_its_end < found.on_the_way
    assert abs(found.at_its_end - found.val_loss) < found.on_the_way - found.val_loss


def test_a_run_without_a_best_epoch_has_nothing_to_notice() -> None:
    diverged = [replace(Run(FitConfig(max_epochs=1)).epoch(), best=False)]
    assert turn(diverged) is None
    assert disagreement(diverged) is None
    assert turn([]) is None
