"""The cantilevers from soft to stiff, steps from fine to absurd, in one table: every run must end."""

from supple.bench.robustness import HEADER, RODS, run_robustness

if __name__ == "__main__":
    print(HEADER)
    for case in ("stiff-cantilever", "soft-cantilever"):
        for rod in RODS:
            for run in run_robustness(case, rod):
                print(run, flush=True)
