"""Long runs: retrieval quality, kills, soak, scale. None of it runs in the test suite."""
