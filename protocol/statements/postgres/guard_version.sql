-- Fails on a database of another protocol version and undoes its batch, which cannot branch; else returns nothing.
-- @returns nothing
select ('protocol version ' || value)::integer as refusal
from cairnq_meta
where key = 'protocol_version' and value <> '1'
