"""How fast and how durable: `python -m benchmarks` measures and prints the tables of docs/benchmarks.md."""
