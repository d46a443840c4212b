-- Reads the protocol version a database speaks.
-- @returns version
select value as version
from cairnq_meta
where key = 'protocol_version'
