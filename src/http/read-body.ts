import { HttpError } from "./http-error.ts";

/**
 * Reads the body as one JSON object.
 *
 * @throws {HttpError} 413 as soon as more than `maxBytes` have arrived, 400 if the body is no JSON object.
 */
export async function readJsonObject(request: Request, maxBytes: number): Promise<Record<string, unknown>> {
  const text = await readText(request, maxBytes);
  if (text.trim() === "") throw notJson("the body is empty; send a JSON object");
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // The parser's own message quotes the body.
    throw notJson("the body is not valid JSON; send a JSON object");
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw notJson("the body must be a JSON object");
  }
  return value as Record<string, unknown>;
}

async function readText(request: Request, maxBytes: number): Promise<string> {
  if (Number(request.headers.get("content-length")) > maxBytes) throw tooLarge(maxBytes);
  const decoder = new TextDecoder("utf-8", { fatal: true });
  const reader = request.body?.getReader();
  let text = "";
  let bytes = 0;
  try {
    while (reader !== undefined) {
      const { done, value } = await reader.read();
      if (done) break;
      bytes += value.byteLength;
      if (bytes > maxBytes) {
        void reader.cancel().catch(() => {});
        throw tooLarge(maxBytes);
      }
      text += decoder.decode(value, { stream: true });
    }
    return text + decoder.decode();
  } catch (error) {
    // What TextDecoder throws for bytes that are no UTF-8.
    if (error instanceof TypeError && !request.signal.aborted) {
      throw notJson("the body is not valid UTF-8; send a JSON object");
    }
    throw error;
  }
}

function notJson(message: string): HttpError {
  return new HttpError(400, "INVALID_JSON", message);
}

function tooLarge(maxBytes: number): HttpError {
  return new HttpError(
    413,
    "PAYLOAD_TOO_LARGE",
    `the body is larger than ${maxBytes} bytes; store it elsewhere and pass a reference`,
  );
}
