// Mattes, step by step, as Swift finds them: the vectors that Tests/EffectsTests/MatteVectorTests.swift writes and reads.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { edgeColors, placesAtEdges } from "../edge-colors.js";
import { boxMean, functionsFor, shrink } from "../guided-filter.js";
import { edgeRange } from "../look.js";
import { drawSubject, findMatte, opacities, rampBetween } from "../matte.js";
import { Settings } from "../settings.js";

const { constants, scenes } = JSON.parse(readFileSync(new URL("../../Tests/Fixtures/matte/vectors.json", import.meta.url), "utf8"));
const bytes = (hex) => new Uint8ClampedArray(hex.match(/../g).map((digits) => Number.parseInt(digits, 16)));
const ramp = { slope: constants.steepness, offset: 0.5 - 0.5 * constants.steepness };

/** The greatest difference of two lists of bytes. */
function difference(first, second) {
    assert.equal(first.length, second.length);
    return first.reduce((most, byte, index) => Math.max(most, Math.abs(byte - second[index])), 0);
}

for (const scene of scenes) {
    const { width, height, mapWidth, mapHeight, radius, colorWidth, colorHeight } = scene;
    const pixels = bytes(scene.pixels);
    const guide = bytes(scene.guide);
    const colors = { width: colorWidth, height: colorHeight, subject: bytes(scene.subject), background: bytes(scene.background) };
    const matte = { functions: Float32Array.from(scene.functions), width: mapWidth, height: mapHeight, colors };

    test(`makes a picture smaller: ${scene.name}`, () => {
        assert.ok(difference(shrink(pixels, width, height, mapWidth, mapHeight), guide) <= 1);
    });

    test(`finds linear functions: ${scene.name}`, () => {
        const found = functionsFor(bytes(scene.confidences), guide, mapWidth, mapHeight, radius, constants);
        assert.equal(found.length, scene.functions.length);
        found.forEach((value, index) => {
            const due = scene.functions[index];
            assert.ok(Math.abs(value - due) <= 1e-3 * Math.max(1, Math.abs(due)), `${value} for ${due} at ${index}`);
        });
    });

    test(`reads opacities at every pixel: ${scene.name}`, () => {
        assert.ok(difference(opacities(pixels, width, height, matte, ramp), bytes(scene.opacities)) <= 1);
    });

    test(`finds the colours of edges, where they are asked for: ${scene.name}`, () => {
        const small = bytes(scene.small);
        const found = edgeColors(small, colorWidth, colorHeight, constants.colorRadii);
        const isAsked = placesAtEdges(small, colorWidth, colorHeight);
        assert.ok(isAsked.includes(1));
        for (const name of ["subject", "background"]) {
            const due = bytes(scene[name]);
            isAsked.forEach((asked, place) => {
                if (!asked) return;
                assert.ok(difference(found[name].subarray(place * 4, place * 4 + 4), due.subarray(place * 4, place * 4 + 4)) <= 1, `${name} at ${place}`);
            });
        }
    });

    test(`draws the subject on nothing: ${scene.name}`, () => {
        const target = new Uint8ClampedArray(pixels.length).fill(77);
        drawSubject(pixels, width, height, matte, ramp, target);
        assert.ok(difference(target, bytes(scene.cutout)) <= 2);
    });

    test(`finds all of a matte from a frame and its confidences: ${scene.name}`, () => {
        const map = { bytes: bytes(scene.confidences), width: mapWidth, height: mapHeight, radius };
        const found = findMatte(pixels, width, height, map, ramp, constants);
        const drawn = opacities(pixels, width, height, found, ramp);
        const due = bytes(scene.opacities);
        const mean = drawn.reduce((sum, alpha, index) => sum + Math.abs(alpha - due[index]), 0) / due.length;
        assert.ok(mean < 0.5, `${mean} levels`);
    });
}

test("the sliders' first values give a film's edge", () => {
    const { slope, offset } = rampBetween(edgeRange(new Settings(undefined).values));
    assert.ok(Math.abs(slope - ramp.slope) < 1e-9 && Math.abs(offset - ramp.offset) < 1e-9, `${slope} ${offset}`);
});

test("means are of what is inside", () => {
    const result = new Float32Array(6);
    boxMean(Float32Array.of(1, 2, 3, 4, 5, 6), result, 3, 2, 1);
    assert.deepEqual([...result], [3, 3.5, 4, 3, 3.5, 4]);
});
