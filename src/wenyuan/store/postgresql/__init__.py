"""The PostgreSQL database: connections, transactions, its lexical index, and how a library in it is opened."""
