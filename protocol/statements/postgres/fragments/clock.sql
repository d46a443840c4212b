-- The database's clock, in epoch milliseconds.
floor(extract(epoch from clock_timestamp()) * 1000)::bigint
