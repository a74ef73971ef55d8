// The unmodified @typesafe-ai/sdk against a running server: `node sdk.mjs SDK_FOLDER URL`.
// Exit 0: all holds. SLOW_FACTOR as in sdk.py.
import assert from "node:assert/strict";
import { pathToFileURL } from "node:url";

const [folder, url] = process.argv.slice(2);
const sdk = await import(pathToFileURL(`${folder}/dist/index.mjs`));
const slow = Number(process.env.SLOW_FACTOR ?? 1);
const client = new sdk.TypeSafeClient(
  { apiKey: "any-key", baseURL: `${url}/`, timeout: 10_000 * slow });
const text = "The customer was charged twice and wants the second charge refunded.";
const questions = {
  zone: sdk.choice("Which team should answer?", { tech: "errors", billing: "charges" }),
  angry: sdk.noul("Is the writer angry?"),
  mood: sdk.score("How urgent is it?", ["can wait", "this week", "today"]),
};

function checkAnswers(answers) {
  assert.deepEqual(Object.keys(answers), ["zone", "angry", "mood"]);
  assert.ok(["tech", "billing"].includes(answers.zone.choice));
  assert.ok(answers.angry.noul >= 0 && answers.angry.noul <= 1);
  assert.ok(answers.mood.score >= 0 && answers.mood.score <= 2);
}

const { data, requestId } = await client.systemOne({ state: text, questions }).withResponse();
checkAnswers(data.answers);
assert.equal(data.model, "laya-rl-agent");
assert.match(requestId, /^ly/);
const many = await Promise.all(
  Array.from({ length: 20 / slow }, (_, i) => client.systemOne({ state: { i, text }, questions })));
many.forEach((one) => checkAnswers(one.answers));
const models = await client.models.list();
assert.equal(models[0].name, "starter");
await assert.rejects(
  client.systemOne({ state: text, questions: { q: { type: "box", instructions: "where" } } }),
  (error) => error instanceof sdk.UnprocessableEntityError && /unknown type 'box'/.test(error.message));
const began = performance.now();
await assert.rejects(
  client.systemOne({ state: text, questions, model: "laya" }),
  (error) => error instanceof sdk.InternalServerError && /layard download laya/.test(error.message));
assert.ok(performance.now() - began >= 1800, "two retries, a second each");
