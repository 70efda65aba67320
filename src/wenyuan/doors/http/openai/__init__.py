"""The library as programs written for OpenAI's API know one: `/v1`."""
