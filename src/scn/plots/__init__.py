"""Pictures of results, by matplotlib, which is imported only when one is drawn."""
