import { brotliDecompressSync, gzipSync } from 'node:zlib';

/** A built file, compressed with Brotli, in base64. */
export interface Asset {
  readonly type: string;
  readonly brotli: string;
}

type Encoding = 'br' | 'gzip' | 'identity';

interface Encoded {
  readonly encoding: Encoding;
  readonly body: Uint8Array;
}

/** Encodes built files for clients. Keeps each encoding once it was asked for. */
export class AssetEncoder {
  readonly #bodies = new Map<string, Uint8Array>();

  encode(name: string, asset: Asset, acceptEncoding: string): Encoded {
    const encoding = preferredEncoding(acceptEncoding);
    return { encoding, body: this.#bodyOf(name, asset, encoding) };
  }

  #bodyOf(name: string, asset: Asset, encoding: Encoding): Uint8Array {
    const key = `${encoding} ${name}`;
    const known = this.#bodies.get(key);
    if (known !== undefined) return known;
    const body = this.#convert(name, asset, encoding);
    this.#bodies.set(key, body);
    return body;
  }

  #convert(name: string, asset: Asset, encoding: Encoding): Uint8Array {
    if (encoding === 'br') return Buffer.from(asset.brotli, 'base64');
    if (encoding === 'gzip') return gzipSync(this.#bodyOf(name, asset, 'identity'), { level: 9 });
    return brotliDecompressSync(this.#bodyOf(name, asset, 'br'));
  }
}

/** Returns the best encoding that a client accepts. Codings with `q=0` are refused (RFC 9110, 12.5.3). */
function preferredEncoding(acceptEncoding: string): Encoding {
  const accepted = new Set(
    acceptEncoding
      .toLowerCase()
      .split(',')
      .map((item) => item.split(';').map((part) => part.trim()))
      .filter(([, quality = 'q=1']) => Number(quality.slice(2)) > 0)
      .map(([coding]) => coding),
  );
  if (accepted.has('br')) return 'br';
  return accepted.has('gzip') ? 'gzip' : 'identity';
}
