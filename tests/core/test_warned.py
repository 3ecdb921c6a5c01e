import threading
import warnings

from core.warned import taking


def test_takes_the_text_word_for_word():
    with taking("Mind") as taken:
        warnings.warn("Mind the gap.", UserWarning, stacklevel=1)
        warnings.warn("Mind the gap.", UserWarning, stacklevel=1)
    assert taken == ["Mind the gap."] * 2


def test_other_warnings_and_other_threads_reach_the_printer_that_was_there(recwarn):
    warnings.simplefilter("always")
    with taking("Mind") as taken:
        warnings.warn("Something else.", UserWarning, stacklevel=1)
        other = threading.Thread(target=lambda: warnings.warn("Mind mine.", UserWarning, stacklevel=1))
        other.start()
        other.join()
    assert taken == []
    assert [str(w.message) for w in recwarn] == ["Something else.", "Mind mine."]


def test_many_threads_each_take_their_own_and_leave_the_process_as_it_was():
    filters, printer = list(warnings.filters), warnings.showwarning
    results = {}

    def work(number):
        with taking(f"Number {number}:") as taken:
            for other in range(8):
                if other == number:
                    warnings.warn(f"Number {number}: here.", UserWarning, stacklevel=1)
        results[number] = taken

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == {n: [f"Number {n}: here."] for n in range(8)}
    assert warnings.filters == filters
    assert warnings.showwarning is printer
