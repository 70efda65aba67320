"""What texts and questions say about days, in every writing."""
