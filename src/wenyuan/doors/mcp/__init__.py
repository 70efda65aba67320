"""The library for agents, by the Model Context Protocol: tools that look things up, and documents as resources."""
