-- Whether an owner can name the task: an id that is empty, no text, or contains NUL does not survive its way.
row.id > '' and typeof(row.id) = 'text' and instr(row.id, char(0)) = 0
