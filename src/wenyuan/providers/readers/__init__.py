"""Services that convert documents, for those whom the readers of this program do not suffice."""
