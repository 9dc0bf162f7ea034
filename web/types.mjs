// Reads the OpenAPI document (ralph schema ui) and writes its schemas as types:
//
//   ralph schema ui | node types.mjs > src/api.gen.ts
import { compile } from "json-schema-to-typescript";

let text = "";
for await (const part of process.stdin) text += part;
const { schemas } = JSON.parse(text).components;

const definitions = JSON.parse(JSON.stringify(schemas).replaceAll("#/components/schemas/", "#/definitions/"));
for (const name of Object.keys(definitions)) definitions[name].title = name; // it is called so
const all = Object.fromEntries(Object.keys(definitions).map((name) => [name, { $ref: `#/definitions/${name}` }]));
process.stdout.write(
  await compile({ title: "Schemas", type: "object", properties: all, required: Object.keys(all), additionalProperties: false, definitions }, "Schemas", {
    additionalProperties: false,
    bannerComment: "// The answers of /api/v1, made from the route table by `make web-types`. Do not edit.",
    declareExternallyReferenced: true,
  }),
);
