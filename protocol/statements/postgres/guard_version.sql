-- Fails on a database of another protocol version, and so undoes its batch; else returns nothing.
-- It is sent by itself before the first request that only reads: what writes has the guard within.
-- @returns nothing
select ('protocol version ' || value)::integer as refusal
from cairnq_meta
where key = 'protocol_version' and value <> '1'
