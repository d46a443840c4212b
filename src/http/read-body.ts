/** Reads the body of a request within a size and a time. */

import { HttpError } from "./http-error.ts";

/** Limits of a request body. */
export interface BodyLimits {
  readonly maxBodyBytes: number;
  readonly maxBodyMs: number;
}

/**
 * Reads the body as one JSON object.
 *
 * @throws {HttpError} 413 as soon as more than `maxBodyBytes` have arrived, 408 if it has not arrived after
 * `maxBodyMs`, 400 if it breaks off or is no JSON object.
 */
export async function readJsonObject(request: Request, limits: BodyLimits): Promise<Record<string, unknown>> {
  const text = decode(await readBytes(request, limits));
  if (text.trim() === "") throw notJson("the body is empty; send a JSON object");
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // The message of the parser would quote the body.
    throw notJson("the body is not valid JSON; send a JSON object");
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw notJson("the body must be a JSON object");
  }
  return value as Record<string, unknown>;
}

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw notJson("the body is not valid UTF-8; send a JSON object");
  }
}

async function readBytes(request: Request, limits: BodyLimits): Promise<Uint8Array> {
  const { maxBodyBytes, maxBodyMs } = limits;
  if (Number(request.headers.get("content-length")) > maxBodyBytes) throw tooLarge(maxBodyBytes);
  const reader = request.body?.getReader();
  if (reader === undefined) return new Uint8Array();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const timedOut = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(tooSlow(maxBodyMs)), maxBodyMs);
  });
  try {
    return await Promise.race([collect(reader, maxBodyBytes), timedOut]);
  } catch (error) {
    void reader.cancel().catch(() => {});
    if (error instanceof HttpError) throw error;
    throw new HttpError(400, "BODY_INCOMPLETE", "the body broke off before its end; send the request again", {
      retryable: true,
    });
  } finally {
    clearTimeout(timer);
  }
}

async function collect(reader: ReadableStreamDefaultReader<Uint8Array>, maxBytes: number) {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    length += value.byteLength;
    if (length > maxBytes) throw tooLarge(maxBytes);
    chunks.push(value);
  }
  const bytes = new Uint8Array(length);
  let offset = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, offset);
    offset += chunk.byteLength;
  }
  return bytes;
}

function notJson(message: string): HttpError {
  return new HttpError(400, "INVALID_JSON", message);
}

function tooLarge(maxBytes: number): HttpError {
  return new HttpError(
    413,
    "PAYLOAD_TOO_LARGE",
    `the body is larger than ${maxBytes} bytes; session it elsewhere and pass a reference`,
  );
}

function tooSlow(maxMs: number): HttpError {
  const message = `the body did not arrive within ${maxMs} ms; send the request again`;
  return new HttpError(408, "BODY_TIMEOUT", message, { retryable: true });
}
