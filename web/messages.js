// Everything that the page says when something is wrong: what it is, and what to do.

const CAMERA = {
    insecure: {
        title: "The camera needs a secure address",
        text: "Browsers give the camera only to pages of this machine or over HTTPS. Open the page as http://localhost with the same port, or start the server with a certificate. Pictures and videos work here too.",
    },
    missing: {
        title: "No camera found",
        text: "Plug one in and try again, or open a picture or video instead.",
    },
    denied: {
        title: "The camera is blocked",
        text: "The browser does not let this page use the camera. Allow it in the address bar, beside the page’s address, and try again.",
    },
    inUse: {
        title: "The camera does not start",
        text: "Another program may be using it. Close that program and try again.",
    },
    unplugged: {
        title: "The camera is gone",
        text: "It was unplugged or taken by another program. The preview goes on by itself once it is back.",
    },
    unknown: {
        title: "The camera does not start",
        text: "Try again, or choose another camera.",
    },
};

/** By the names of the errors of getUserMedia. */
export function cameraMessage(error) {
    if (!window.isSecureContext || error.name === "SecurityError") return CAMERA.insecure;
    if (error.name === "NotAllowedError") return CAMERA.denied;
    if (error.name === "NotFoundError" || error.name === "OverconstrainedError") return CAMERA.missing;
    if (error.name === "NotReadableError" || error.name === "AbortError") return CAMERA.inUse;
    return CAMERA.unknown;
}

export const CAMERA_UNPLUGGED = CAMERA.unplugged;

export const CONNECTION = {
    gone: {
        title: "The server is gone",
        text: "The page keeps trying to reach it, and goes on where it was. If you stopped it, start it again with: silhouette serve",
    },
    refused: {
        title: "The server refuses this page",
        text: "Open the address exactly as the server printed it, with its token if it has one.",
    },
    busy: {
        title: "The server has no room",
        text: "Too many pages are connected. Close one of them; this page keeps trying.",
    },
    incompatible: {
        title: "The page and the server do not match",
        text: "They are of different versions. Load the page anew.",
    },
};

export const badFile = (name) => ({
    title: `${name} cannot be opened`,
    text: "The browser shows neither a picture nor a video in it. JPEG, PNG, WebP, MP4 and WebM usually work.",
});

export const RECORDING_FAILED = {
    title: "The recording stopped",
    text: "The browser could not go on. What was recorded until then is saved.",
};

const SERVER_ERRORS = {
    "bad-picture": "The server could not read a frame.",
    "size-mismatch": "The server could not read a frame.",
    "too-large": "The picture is too large for the server.",
    "bad-settings": "The server does not take these settings.",
    rate: "Frames come faster than the server allows.",
    internal: "The server could not segment a frame.",
};

/** What the server itself said goes below, in its own words. */
export const serverMessage = ({ code, message }) => ({
    title: SERVER_ERRORS[code] ?? "The server reports an error.",
    text: String(message ?? code),
});
