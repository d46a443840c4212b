-- Reads the protocol version of the database. It fails where there are no tables yet.
-- @returns version
select value as version
from cairnq_meta
where key = 'protocol_version'
