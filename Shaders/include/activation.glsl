// The function that ends a layer. ACTIVATION is a specialisation constant: the branches fold away.

vec4 activate(vec4 x) {
    switch (ACTIVATION) {
    case 1: return max(x, vec4(0));
    case 2: return clamp(x, vec4(0), vec4(6));
    case 3: return x * clamp(x + 3.0, vec4(0), vec4(6)) * (1.0 / 6.0);
    case 4: return clamp(x + 3.0, vec4(0), vec4(6)) * (1.0 / 6.0);
    case 5: return 1.0 / (1.0 + exp(-x));
    default: return x;
    }
}
