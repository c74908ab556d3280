"""A scheduler without a network: what a client of distributed does for trials, by hand."""

from __future__ import annotations

from core.tuning.scores.scoring import TrialResult


class FakeFuture:
    def __init__(self, key, given=()):
        self.key, self.given, self.status, self.outcome = key, given, "pending", None
        self._callbacks, self.cancelled, self.released = [], False, False

    def add_done_callback(self, callback):
        self._callbacks.append(callback)

    def end(self, status, outcome=None):
        self.status, self.outcome = status, outcome
        for callback in self._callbacks:
            callback(self)

    def result(self, timeout=None):
        if self.status == "error":
            raise self.outcome
        return self.outcome

    def cancel(self, force=False):
        self.cancelled = True

    def release(self):
        self.released = True


class FakeClient:
    """Workers, and futures that end when the test says so."""

    def __init__(self, threads=(1, 1)):
        self.status = "running"
        self.workers = {
            f"tcp://10.0.0.{i}:1": {"name": f"w{i}", "host": f"10.0.0.{i}", "nthreads": n}
            for i, n in enumerate(threads)
        }
        self.futures, self.scattered, self.at = [], [], {}
        self.ran, self.there, self.told = [], None, []

    def scatter(self, given, workers, broadcast, hash):
        assert broadcast
        assert set(workers) <= set(self.workers)
        assert workers
        assert not hash
        future = FakeFuture(f"data-{len(self.scattered)}")
        future.status = "finished"
        self.scattered.append(future)
        return future

    def submit(self, function, work, run, task, limit, key, pure, workers):
        assert not pure
        future = FakeFuture(key, (work, task, limit, workers))
        self.futures.append(future)
        return future

    def cancel(self, futures, force=False):
        for future in futures:
            future.cancel(force=force)

    def run(self, function, *given, workers=None, on_error="raise"):
        self.ran.append(function)
        if given and function.__name__ == "shorten_limits":
            self.told.append((tuple(workers), dict(given[0])))
            return {address: list(given[0]) for address in workers}
        if given or workers is None:
            return {}
        answer = self.there or function()
        return {address: answer.get(address, function()) for address in workers}

    def scheduler_info(self, n_workers=5):
        assert n_workers == -1  # five is what newer versions tell by default
        return {"workers": self.workers}

    def processing(self):
        return self.at

    def end(self, number, score):
        """The trial of that number has ended."""
        future = next(f for f in reversed(self.futures) if f.given[1].number == number)
        future.end("finished", TrialResult(number, future.given[1].setting, (score,), 0.1))
