-- Lists the pauses that concern a queue and a name, by queue and name; '' stands for every queue or every name.
-- @param queue text
-- @param name text
-- @returns queue, name, paused_at_ms
select queue, name, paused_at_ms + 0.0 as paused_at_ms
from wadi_pauses
where (+:queue = '' or queue = '' or queue = :queue) and (+:name = '' or name = '' or name = :name)
order by queue, name
