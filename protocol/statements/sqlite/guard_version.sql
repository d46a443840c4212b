-- Fails on a database of another protocol version and undoes its batch, which cannot branch; else returns nothing.
-- @returns nothing
select json('protocol version ' || value) as refusal
from cairnq_meta
where key = 'protocol_version' and value <> '1'
