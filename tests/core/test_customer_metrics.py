import pytest

from core.customer_metrics import customers, script, val_losses
from core.fit import fit
from core.metrics import report_means


def test_the_weighted_mean_is_the_val_loss_of_the_best_epoch():
    last = list(fit())[-1]
    per_example = customers()
    assert len(per_example.loss) == len(per_example.correct) == 200
    assert report_means(per_example.loss, 64).weighted == pytest.approx(last.best_val, abs=1e-6)


@pytest.mark.parametrize("size", range(1, 201, 7))
def test_the_weighted_mean_is_the_full_sets_for_every_batch_size(size):
    report = report_means(customers().loss, size)
    assert report.weighted == pytest.approx(report.full, abs=1e-12)


def test_the_naive_mean_is_off_at_64_and_not_at_50():
    assert abs(report_means(customers().loss, 64).naive - report_means(customers().loss, 64).full) > 0.01
    assert report_means(customers().loss, 50).naive == pytest.approx(report_means(customers().loss, 50).full)


@pytest.mark.parametrize(("size", "drop_last"), [(64, False), (64, True)])
def test_the_script_prints_the_same_numbers(size, drop_last, run_script):
    output, _ = run_script(script(size, drop_last=drop_last))
    expected = []
    for name, per_example in (("loss", customers().loss), ("accuracy", customers().correct)):
        r = report_means(per_example, size, drop_last=drop_last)
        expected.append(f"{name:<8} naive {r.naive:.4f}  weighted {r.weighted:.4f}  full set {r.full:.4f}")
        expected.append(
            f"  last batch {r.last_batch:.4f}  means over dataset {r.means_over_dataset:.4f}"
            f"  totals over loader {r.totals_over_loader:.4f}"
        )
    assert output.splitlines() == expected


def test_the_val_losses_fall_and_then_stall():
    losses = val_losses()
    assert losses.index(min(losses)) == len(losses) - 9  # patience is 8
    assert losses[0] > min(losses)
