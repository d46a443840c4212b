-- Whether an owner can name the task: an id that is empty, no text, or contains NUL does not reach a client intact.
(id > '' and typeof(id) = 'text' and instr(id, char(0)) = 0)
