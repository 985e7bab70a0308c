// The function that ends a layer. ACTIVATION is a specialisation constant: the branches fold away.
//
// `precise`, as all sums: a compiler that may take x + 3.0 together with what made x does so in one variant of a shader and not in
// another, and their bytes differ.

vec4 activate(vec4 x) {
    precise vec4 y = x;
    switch (ACTIVATION) {
    case 1: y = max(x, vec4(0)); break;
    case 2: y = clamp(x, vec4(0), vec4(6)); break;
    case 3: y = x * clamp(x + 3.0, vec4(0), vec4(6)) * (1.0 / 6.0); break;
    case 4: y = clamp(x + 3.0, vec4(0), vec4(6)) * (1.0 / 6.0); break;
    case 5: y = 1.0 / (1.0 + exp(-x)); break;
    }
    return y;
}
