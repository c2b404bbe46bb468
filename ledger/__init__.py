"""The exactly-once record of steps and compensations, kept in Tablestore."""
