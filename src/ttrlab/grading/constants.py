"""Names that the grammar knows."""

CONSTANTS = {"pi": "pi", "e": "e", "i": "i", "infty": "infty"}
GREEK = frozenset(
    (
        "alpha beta gamma delta epsilon varepsilon zeta eta theta vartheta iota kappa lambda mu nu xi rho "
        "sigma tau upsilon phi varphi chi psi omega Gamma Delta Theta Lambda Xi Pi Sigma Phi Psi Omega ell "
        "hbar"
    ).split()
)
UNARY = frozenset(
    (
        "sin cos tan cot sec csc arcsin arccos arctan arccot arcsec arccsc sinh cosh tanh log ln lg exp gcd "
        "lcm max min abs floor ceil asin acos atan arg Re Im det"
    ).split()
)
RENAMED = {"asin": "arcsin", "acos": "arccos", "atan": "arctan", "lg": "log"}
CLOSERS = {"lfloor": ("rfloor", "floor"), "lceil": ("rceil", "ceil"), "langle": ("rangle", "seq"), "lVert": ("rVert", "abs")}
