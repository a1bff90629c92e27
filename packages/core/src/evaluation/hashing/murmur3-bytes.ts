import type { TextEncoding } from '../../api/text-encoding.js';
import { finish, mixBlock, mixTail } from './murmur3-steps.js';
import { LAST_ASCII, REPLACEMENT_CHARACTER } from './text-encoding.js';

/** A murmur3 hash in progress, byte by byte: for prefixes, and for ids that are not ASCII. */
export class Murmur3Bytes {
  state: number;
  carry = 0;
  carryBits = 0;
  length = 0;

  constructor(seed: number) {
    this.state = seed | 0;
  }

  resume(from: Pick<Murmur3Bytes, 'state' | 'carry' | 'carryBits' | 'length'>): void {
    this.state = from.state;
    this.carry = from.carry;
    this.carryBits = from.carryBits;
    this.length = from.length;
  }

  write(text: string, encoding: TextEncoding): void {
    if (encoding === 'utf8') this.writeUtf8(text);
    else this.writeLowBytes(text);
  }

  digest(): number {
    return finish(this.carryBits === 0 ? this.state : mixTail(this.state, this.carry), this.length);
  }

  private writeLowBytes(text: string): void {
    for (let at = 0; at < text.length; at++) this.byte(text.charCodeAt(at) & 0xff);
  }

  private writeUtf8(text: string): void {
    for (let at = 0; at < text.length; at++) {
      const point = text.codePointAt(at) ?? 0;
      if (point > 0xffff) at++;
      this.codePoint(point >= 0xd800 && point <= 0xdfff ? REPLACEMENT_CHARACTER : point);
    }
  }

  private codePoint(point: number): void {
    if (point <= LAST_ASCII) {
      this.byte(point);
    } else if (point <= 0x7ff) {
      this.byte(0xc0 | (point >> 6));
      this.byte(0x80 | (point & 0x3f));
    } else if (point <= 0xffff) {
      this.byte(0xe0 | (point >> 12));
      this.byte(0x80 | ((point >> 6) & 0x3f));
      this.byte(0x80 | (point & 0x3f));
    } else {
      this.byte(0xf0 | (point >> 18));
      this.byte(0x80 | ((point >> 12) & 0x3f));
      this.byte(0x80 | ((point >> 6) & 0x3f));
      this.byte(0x80 | (point & 0x3f));
    }
  }

  private byte(byte: number): void {
    this.carry |= byte << this.carryBits;
    this.carryBits += 8;
    this.length++;
    if (this.carryBits < 32) return;
    this.state = mixBlock(this.state, this.carry);
    this.carry = 0;
    this.carryBits = 0;
  }
}
