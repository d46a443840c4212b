// The function behind /api/submit.

import { answer } from "./handler.ts";

export const maxDuration = 10;

/** `POST /api/submit`: the handler's `POST /tasks`. */
export function POST(request: Request): Promise<Response> {
  return answer(request, "/tasks");
}
