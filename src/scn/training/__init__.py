"""How a network is trained: recipe, batches, steps and the state that a checkpoint holds."""
