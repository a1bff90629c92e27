import type { Awaitable } from '@flags/core/types';
import { entityTag, namesTag } from '../messages/entity-tags.js';
import { collectPieces, jsonOf } from '../messages/json.js';
import { type FlagsReply, textReply } from '../messages/reply.js';
import type { FlagsRequest } from '../messages/request.js';
import type { Passage } from './admission.js';
import { linkToNext } from './query.js';
import type { Route, RouteResult } from './route.js';
import type { Documents } from './shared-documents.js';

/**
 * The maximum length of a buffered reply, in characters. Buffered replies have a content length and a hash of their content
 * as their tag. Longer replies are written in pieces while their client reads, and have no tag.
 */
const BUFFERED_LENGTH = 1024 * 1024;

interface Answered {
  readonly request: FlagsRequest;
  readonly route: Route;
  readonly passage: Passage | undefined;
  readonly documents: Documents;
}

/** Converts the result of a handler to a reply. */
export async function toReply(
  result: RouteResult,
  { request, route, passage, documents }: Answered,
): Promise<FlagsReply> {
  const { stream, document, file, revision, next } = result;
  if (stream) return { status: 200, headers: STREAM_HEADERS, stream };
  const { status, method, form = {}, long } = route;
  const headers: Record<string, string> = {
    ...(form.isSecret && { 'cache-control': 'no-store' }),
    ...(form.vary && { vary: form.vary }),
    ...(next && { link: linkToNext(request.originalUrl, next) }),
    ...(result.etag && { etag: result.etag }),
  };
  if (document) {
    const { etag, body, read } = await documents(document);
    return textReply({ status, headers: { ...headers, etag }, body: body ?? { first: [], rest: read() } });
  }
  if (file) {
    const body = await collectPieces(file.text, BUFFERED_LENGTH);
    const saved = {
      'content-type': `${file.media}; charset=utf-8`,
      'content-disposition': `attachment; filename="${file.name}"`,
    };
    return textReply({ status, headers: { ...headers, ...saved }, body });
  }
  if (result.body === undefined) return { status, headers };
  const json = jsonOf(result.body);
  const enter = long?.kind === 'evaluation' ? async () => passage?.enter('evaluation') : undefined;
  const body = typeof json === 'string' ? json : await collectPieces(json, BUFFERED_LENGTH, enter);
  const isTagged = method === 'GET' || form.isConditional || revision !== undefined;
  if (isTagged && result.etag === undefined && typeof body === 'string') {
    headers.etag = entityTag(next ? `${body}${JSON.stringify(next)}` : body, revision);
  }
  return textReply({ status, headers, body });
}

/** Returns 304 without a body when `If-None-Match` names the tag of the reply. */
export function toConditionalReply(
  { headers: sent }: FlagsRequest,
  { method, form }: Route,
  reply: FlagsReply,
): Awaitable<FlagsReply> {
  const { etag, link, vary } = reply.headers;
  const isConditional = method === 'GET' || form?.isConditional;
  if (reply.status !== 200 || !isConditional || etag === undefined || !namesTag(sent['if-none-match'], etag))
    return reply;
  const headers = { etag, ...(link !== undefined && { link }), ...(vary !== undefined && { vary }) };
  const notModified = { status: 304, headers };
  return reply.discard ? reply.discard().then(() => notModified) : notModified;
}

/** The headers of an event stream ask proxies not to buffer events. */
const STREAM_HEADERS = {
  'content-type': 'text/event-stream',
  'cache-control': 'private, no-cache, no-transform',
  'x-accel-buffering': 'no',
};
