package limitertest

import "math/big"

// pad makes the numbers of an account. A run is followed with dozens of them, so that they are made many at once.
type pad struct {
	blank []big.Int
	words []big.Word
}

// wide is how many words most numbers have, at the most.
const wide = 2

func (p *pad) number(n int64) *big.Int {
	if len(p.blank) == 0 {
		p.blank, p.words = make([]big.Int, 16), make([]big.Word, 16*wide)
	}
	out := p.blank[0].SetBits(p.words[:0:wide])
	p.blank, p.words = p.blank[1:], p.words[wide:]
	return out.SetInt64(n)
}

func (p *pad) sum(x, y *big.Int) *big.Int   { return p.number(0).Add(x, y) }
func (p *pad) minus(x, y *big.Int) *big.Int { return p.number(0).Sub(x, y) }

// times is what comes in some nanoseconds, or what some tokens are.
func (p *pad) times(each *big.Int, n int64) *big.Int {
	product := p.number(n)
	return product.Mul(each, product)
}

func positive(n *big.Int) *big.Int {
	if n.Sign() < 0 {
		return new(big.Int)
	}
	return n
}

func larger(a, b *big.Int) *big.Int {
	if a.Cmp(b) > 0 {
		return a
	}
	return b
}

func smaller(a, b *big.Int) *big.Int {
	if a.Cmp(b) < 0 {
		return a
	}
	return b
}
