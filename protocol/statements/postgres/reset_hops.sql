-- Forgets how often drains have kicked each other: nothing is due in these queues.
-- @param queues_json json
-- @returns nothing
update wadi_wakes set hops = 0
where hops > 0 and queue = any(array(select jsonb_array_elements_text(coalesce(@guard(), :queues_json)::jsonb)))
