-- The elements of a JSON array of texts, one a row. Through an array of SQL the planner expects 10 of them.
-- @param json the array
unnest(array(select jsonb_array_elements_text(@json::jsonb)))
