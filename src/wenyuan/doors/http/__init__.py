"""HTTP: the library under `/api/v1`, for programs and for pages."""
