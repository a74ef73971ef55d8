// The request as a command for a shell.

/// A text as one word of a POSIX shell, whatever it holds.
export function shellWord(text) {
  if (/^[A-Za-z0-9_@%+=:,./-]+$/.test(text)) return text;
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/// The key itself is not written into the command: it would end up in the shell's history.
export const KEY_WORD = '"Authorization: Bearer $API_KEY"';

/// The command that sends this body to this address, one option a line.
export function curlCommand({url, body, hasKey}) {
  const lines = [
    `curl -sS${url.includes('[') ? ' --globoff' : ''} ${shellWord(url)}`,
    `-H ${shellWord('Content-Type: application/json')}`,
  ];
  if (hasKey) lines.push(`-H ${KEY_WORD}`);
  lines.push(`--data-binary ${shellWord(body)}`);
  return lines.join(' \\\n  ');
}
